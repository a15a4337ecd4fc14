package memory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/classifier"
	"oomscan/parser"
)

func gib(n float64) *int64 {
	b := int64(n * (1 << 30))
	return &b
}

func failed(r classifier.Root) *classifier.Incident {
	return &classifier.Incident{Kind: parser.GPUOOM, Resource: "gpu", Root: r}
}

func TestTheLedgerClosesOrSaysWhatContradicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		root              classifier.Root
		rest, unexplained *int64
		contradiction     string
	}{
		"a full message closes": {
			root: classifier.Root{Total: gib(79.25), Free: gib(3.75), ProcessBytes: gib(75.5), Allocated: gib(66), ReservedUnallocated: gib(8.5)},
			rest: gib(1), unexplained: gib(0),
		},
		"another process on the card is a part": {
			root: classifier.Root{Total: gib(80), Free: gib(2), ProcessBytes: gib(50), OtherProcesses: gib(20), Allocated: gib(40), ReservedUnallocated: gib(5)},
			rest: gib(5), unexplained: gib(8),
		},
		"messages before 2.1 tell the sum that is reserved": {
			root:        classifier.Root{Total: gib(24), Free: gib(1), Allocated: gib(20), Reserved: gib(22)},
			unexplained: gib(1),
		},
		"rounding is no contradiction": {
			root: classifier.Root{Total: gib(79.25), Free: gib(3.75), ProcessBytes: gib(75.51), Allocated: gib(66), ReservedUnallocated: gib(9.52)},
			rest: gib(0), unexplained: gib(0),
		},
		"more allocated than the card has": {
			root:          classifier.Root{Total: gib(79.18), Free: gib(2), Allocated: gib(100.77)},
			contradiction: "100.77 GiB allocated by PyTorch do not fit into a capacity of 79.18 GiB",
		},
		"more in PyTorch than in its process": {
			root:          classifier.Root{Total: gib(80), Free: gib(2), ProcessBytes: gib(60), Allocated: gib(60), ReservedUnallocated: gib(10)},
			contradiction: "this process holds 60.00 GiB, less than the 70.00 GiB that PyTorch counts in it",
		},
		"parts beyond the capacity": {
			root:          classifier.Root{Total: gib(40), Free: gib(10), ProcessBytes: gib(35)},
			contradiction: "the parts add up to 45.00 GiB, more than the capacity of 40.00 GiB",
		},
		"nothing about the process": {root: classifier.Root{Total: gib(40), Free: gib(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := Account(failed(c.root))
			require.NotNil(t, l)
			if c.contradiction != "" {
				require.NotNil(t, l.Contradiction)
				assert.Equal(t, c.contradiction, *l.Contradiction)
				assert.Nil(t, l.Unexplained)
				return
			}
			assert.Nil(t, l.Contradiction)
			assert.Equal(t, c.rest, l.ProcessRest)
			assert.Equal(t, c.unexplained, l.Unexplained)
		})
	}
}

func TestThereIsNoLedgerWithoutItsTerms(t *testing.T) {
	t.Parallel()
	full := classifier.Root{Total: gib(40), Free: gib(1), Allocated: gib(30)}
	assert.Nil(t, Account(failed(classifier.Root{Total: gib(40)})))
	assert.Nil(t, Account(&classifier.Incident{Kind: parser.OOMKill, Resource: "host", Root: full}))
	assert.Nil(t, Account(&classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Root: full}))
}
