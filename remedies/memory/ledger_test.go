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
			contradiction: "PyTorch says it allocated 100.77 GiB, more than the card's 79.18 GiB",
		},
		"more in PyTorch than in its process": {
			root:          classifier.Root{Total: gib(80), Free: gib(2), ProcessBytes: gib(60), Allocated: gib(60), ReservedUnallocated: gib(10)},
			contradiction: "the message gives 60.00 GiB for the whole process, but 70.00 GiB for PyTorch alone",
		},
		"parts beyond the capacity": {
			root:          classifier.Root{Total: gib(40), Free: gib(10), ProcessBytes: gib(35)},
			contradiction: "the parts add up to 45.00 GiB, more than the capacity of 40.00 GiB",
		},
		"nothing about the process": {root: classifier.Root{Total: gib(40), Free: gib(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := Account(nil, failed(c.root))
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
	assert.Nil(t, Account(nil, failed(classifier.Root{Total: gib(40)})))
	assert.Nil(t, Account(nil, &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Root: full}))
	assert.Nil(t, Account(nil, &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Root: full}))
}

func TestAHostsLedgerClosesByKindsOfMemory(t *testing.T) {
	t.Parallel()
	kill := func(r classifier.Root) *classifier.Incident {
		return &classifier.Incident{Kind: parser.OOMKill, Resource: "host", Root: r}
	}
	full := classifier.Root{
		Limit: gib(128), Used: gib(127.75), Anon: gib(120), File: gib(1), Shmem: gib(6),
		Tasks: []classifier.Task{{PID: 7, Name: "python", RSS: 42 << 30}, {PID: 9, Name: "ray::IDLE", RSS: 1 << 30}},
	}
	l := Account(nil, kill(full))
	require.NotNil(t, l)
	assert.Nil(t, l.Contradiction)
	assert.Equal(t, gib(.75), l.Unexplained)
	assert.Equal(t, gib(.25), l.Free)
	require.Len(t, l.Tasks, 2)
	assert.Equal(t, 7, *l.Tasks[0].PID)

	full.Used = gib(100)
	l = Account(nil, kill(full))
	require.NotNil(t, l.Contradiction)
	assert.Contains(t, *l.Contradiction, "add up to 127.00 GiB, more than the 100.00 GiB in use")

	full.Used = gib(140)
	require.NotNil(t, Account(nil, kill(full)).Contradiction)
	assert.Nil(t, Account(nil, kill(classifier.Root{Limit: gib(128)})), "a limit alone is no ledger")
}

func TestAnEnginesReadingsBelongToItsWriter(t *testing.T) {
	t.Parallel()
	gauge := func(name, stream, source string, line int, bytes string) classifier.Gauge {
		return classifier.Gauge{Name: name, Stream: stream, At: parser.Position{Source: source, Line: line}, Fields: parser.Fields{"used": bytes}}
	}
	in := &classifier.Incident{Kind: parser.KVCache, Resource: "gpu", Root: classifier.Root{Stream: "TP1", At: parser.Position{Source: "a", Line: 50}}}
	run := &classifier.Run{Gauges: []classifier.Gauge{
		gauge("sglang.mem_weights", "TP1", "a", 4, "900"), gauge("sglang.mem_kv_pool", "TP0", "a", 5, "90"), // of an earlier start
		gauge("sglang.mem_weights", "TP0", "a", 10, "1000"), gauge("sglang.mem_weights", "TP1", "a", 11, "2000"),
		gauge("sglang.mem_kv_pool", "TP0", "a", 12, "500"), gauge("sglang.mem_kv_pool", "TP2", "a", 13, "501"),
		gauge("sglang.mem_graphs", "TP0", "a", 14, "70"), gauge("sglang.mem_graphs", "TP2", "a", 15, "700"),
		gauge("vllm.graphs", "TP1", "b", 3, "9"), gauge("vllm.kv_available", "TP1", "a", 60, "9"),
	}}
	l := Account(run, in)
	require.NotNil(t, l)
	require.Len(t, l.Engine, 2, "not of another input, nor from after the failure, nor where others disagree")
	assert.Equal(t, Part{Name: "weights", Bytes: 2000, File: "a", Line: 11}, l.Engine[0])
	assert.Equal(t, Part{Name: "KV cache", Bytes: 501, File: "a", Line: 13}, l.Engine[1])
}
