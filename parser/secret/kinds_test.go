package secret_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"oomscan/parser/secret"
	"oomscan/parser/secret/secrettest"
)

func TestNoKindLeaksAtAnyPlace(t *testing.T) {
	t.Parallel()
	assert.Len(t, secrettest.Kinds(), 95)
	assert.Len(t, secrettest.Places(), 11)
	for _, k := range secrettest.Kinds() {
		for _, p := range secrettest.Places() {
			line := p.Line(k)
			got := secret.Stable(line)
			assert.Empty(t, k.Leak(got), "%s, %s: %s", k.Name, p.Name, got)
			assert.NotEmpty(t, k.Leak(line), "%s, %s", k.Name, p.Name)
		}
	}
}

// FuzzAKeyIsMaskedInAnyContext surrounds credentials that have an issuer's prefix with any text.
func FuzzAKeyIsMaskedInAnyContext(f *testing.F) {
	f.Add("token: '", "' --api-key x")
	f.Add(`{"a": "b\n`, `\n"}`)
	f.Add("https://me:", "@host/?sig=")
	f.Add("Cookie: a=b; c=", "; d")
	f.Fuzz(func(t *testing.T, before, after string) {
		if len(before)+len(after) > 1<<12 {
			t.Skip()
		}
		for _, k := range secrettest.Kinds()[:8] {
			assert.Empty(t, k.Leak(secret.Stable(before+" "+k.Value+" "+after)), "%q %s %q", before, k.Name, after)
		}
	})
}
