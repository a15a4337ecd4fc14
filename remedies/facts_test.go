package remedies

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryFactHasWords(t *testing.T) {
	t.Parallel()
	for name, f := range facts {
		assert.NotEmpty(t, f.words, name)
		assert.NotEmpty(t, f.negated, name)
		assert.Equal(t, strings.Contains(f.words, "%s"), strings.Contains(f.negated, "%s"), name)
	}
}

func TestConditionsInWords(t *testing.T) {
	t.Parallel()
	for cond, want := range map[string]string{
		"backend:fsdp":          "the fsdp backend",
		"not backend:megatron":  "a backend other than megatron",
		"enforce_eager!=True":   "enforce_eager is not True",
		"not micro_batch=1":     "not: micro_batch is 1",
		"zero_stage>2":          "zero_stage is more than 2",
		"no such fact whatever": "no such fact whatever",
	} {
		assert.Equal(t, want, inWords(cond))
	}
}
