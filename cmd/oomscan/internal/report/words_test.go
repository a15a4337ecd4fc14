package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sentences are two words in a row, which no layout needs.
var sentences = regexp.MustCompile(`[A-Za-z]{2,}['’]? [A-Za-z]{2,}`)

func TestNoRendererHasWordsOfItsOwn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	looked := 0
	for _, file := range files {
		if strings.HasPrefix(file, "words") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				looked++
				assert.False(t, sentences.MatchString(text) && !strings.HasPrefix(text, "<"), "%s: %q belongs into a file of words", file, text)
			}
			return true
		})
	}
	assert.Greater(t, looked, 500)
}
