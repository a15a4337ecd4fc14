package report

import (
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser is a headless one, which Debian's package chromium has.
func browser(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("without chromium nothing shows the page")
	}
	return path
}

// jobsPage is one page of all samples, below their overview.
func jobsPage(t testing.TB) string {
	t.Helper()
	var b strings.Builder
	h := NewHTML(Output{Writer: &b})
	a := &Answer{Version: "v1", Several: true}
	require.NoError(t, h.Begin(a))
	for name, r := range samples(t) {
		require.NoError(t, h.Job(&Job{Name: name, Report: r}))
		a.Briefs = append(a.Briefs, r.Brief(name, "", ""))
	}
	a.Summary = Summarize(a.Briefs)
	require.NoError(t, h.End())
	return b.String()
}

// shownBy has a headless browser run a page's script, and returns the page as it is then.
func shownBy(t testing.TB, page string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--user-data-dir=" + dir, "--dump-dom"}, flags...)
	cmd := exec.Command(browser(t), append(args, "file://"+path)...)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	require.NoError(t, cmd.Run(), log.String())
	assert.NotContains(t, log.String(), "CONSOLE", "a complaint about the page")
	return out.String()
}

func TestABrowserShowsThePage(t *testing.T) {
	t.Parallel()
	got := shownBy(t, jobsPage(t))
	assert.NotRegexp(t, `<button[^>]* hidden`, got, "the script shows the buttons")
	assert.Contains(t, got, `<th><button type="button">first failure</button></th>`)
}

// TestABrowserFindsThePageSound measures, in a browser, the contrast of all texts, what the keyboard reaches, landmarks, and what is
// wider than the screen or overlaps: light on a phone, dark on a desk. testdata/audit.js says how.
func TestABrowserFindsThePageSound(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("testdata/audit.js")
	require.NoError(t, err)
	page := jobsPage(t) + "<script>" + string(script) + "</script>"
	for name, c := range map[string]struct {
		width  int
		scheme string
	}{
		"light, a phone": {390, lightScheme},
		"dark, a desk":   {1280, darkScheme},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, "sound", audit(t, page, c.width, c.scheme))
		})
	}
	t.Run("it finds faults", func(t *testing.T) {
		t.Parallel()
		bad := strings.Replace(page, "</main>", `<p style="color:#999">pale</p><div style="width:3000px">wide</div><button tabindex="-1">far</button></main>`, 1)
		got := audit(t, bad, 390, lightScheme)
		for _, want := range []string{"contrast 2.", "wider than the screen", "off the screen", "not in the order of the tab key"} {
			assert.Contains(t, got, want)
		}
	})
}

// What a user may prefer.
const (
	lightScheme = "--blink-settings=preferredColorScheme=1"
	darkScheme  = "--blink-settings=preferredColorScheme=0"
)

// audit is what the page's script found in a frame of that width: a browser's own window has no width of a phone.
func audit(t testing.TB, page string, width int, scheme string) string {
	t.Helper()
	frame := fmt.Sprintf(`<!doctype html><iframe width="%d" height="900" srcdoc="%s"></iframe>`, width, html.EscapeString(page))
	found := regexp.MustCompile(`(?s)<pre id="audit">(.*?)</pre>`).FindStringSubmatch(shownBy(t, frame, "--window-size=1600,1200", scheme))
	require.NotNil(t, found)
	return html.UnescapeString(found[1])
}

// TestColoursHaveContrast computes the contrast of the page's colors as WCAG 2 does: 4.5 to 1 for text (AA), 3 to 1 for drawings.
func TestColoursHaveContrast(t *testing.T) {
	t.Parallel()
	css := regexp.MustCompile(`(?s):root\{(.*?)\}`).FindAllStringSubmatch(pageTemplate, -1)
	require.Len(t, css, 2, "light and dark")
	for i, mode := range []string{"light", "dark"} {
		colors := map[string]string{"light text": "#fff", "dark text": "#141416"}
		for _, m := range regexp.MustCompile(`--(\w+):(#[0-9a-f]{3,6})`).FindAllStringSubmatch(css[i][1], -1) {
			colors[m[1]] = m[2]
		}
		require.Greater(t, len(colors), 20)
		atLeast := func(least float64, fore string, backs ...string) {
			for _, back := range backs {
				assert.GreaterOrEqual(t, contrast(t, colors[fore], colors[back]), least, "%s: %s on %s", mode, fore, back)
			}
		}
		atLeast(4.5, "ink", "bg", "card", "okbg", "badbg")
		atLeast(4.5, "dim", "bg", "card", "okbg", "badbg")
		atLeast(4.5, "ok", "bg")
		atLeast(4.5, mode+" text", "ok", "maybe", "bad") // tags: white on what is dark, and the other way round
		for _, drawn := range []string{"bad", "ok", "t1", "t5"} {
			atLeast(3, drawn, "bg", "card")
		}
		for _, m := range regexp.MustCompile(`\.p-(\w+)\{`).FindAllStringSubmatch(pageTemplate, -1) {
			atLeast(3, m[1], "bg")
		}
	}
	assert.InDelta(t, 21, contrast(t, "#000000", "#fff"), 0.01)
	assert.InDelta(t, 4.54, contrast(t, "#767676", "#ffffff"), 0.01)
}

// contrast is the ratio of two colors' luminances.
func contrast(t testing.TB, a, b string) float64 {
	t.Helper()
	luminance := func(colour string) (sum float64) {
		hex := strings.TrimPrefix(colour, "#")
		if len(hex) == 3 {
			hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
		}
		require.Len(t, hex, 6, colour)
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			require.NoError(t, err)
			c := float64(n) / 255
			if c <= 0.04045 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	hi, lo := luminance(a), luminance(b)
	if hi < lo {
		hi, lo = lo, hi
	}
	return (hi + 0.05) / (lo + 0.05)
}
