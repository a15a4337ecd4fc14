package traceback

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATracebackIsReadFromAValue(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"JSON":        `{"message": "x", "py_callstack": "Traceback (most recent call last):\n  File \"/app/sft.py\", line 55, in main\n    out = model(**batch)\n  File \"/app/m.py\", line 3, in forward\n    x = x.float()\ntorch.OutOfMemoryError: CUDA out of memory.\n"}`,
		"within JSON": `{"log": "{\"error\": \"Traceback (most recent call last):\\n  File \\\"/app/sft.py\\\", line 55, in main\\n    out = model(**batch)\\n  File \\\"/app/m.py\\\", line 3, in forward\\n    x = x.float()\\ntorch.OutOfMemoryError: CUDA out of memory.\\n\"}"}`,
		"repr":        `{'error': 'Traceback (most recent call last):\n  File "/app/sft.py", line 55, in main\n    out = model(**batch)\n  File "/app/m.py", line 3, in forward\n    x = x.float()\ntorch.OutOfMemoryError: CUDA out of memory.'}`,
		"cut":         `{"e": "Traceback (most recent call last):\n  File \"/app/sft.py\", line 55, in main\n    out = model(**batch)\n  File \"/app/m.py\", line 3, in forward\n    x = x.fl`,
	} {
		got := Within(7, []byte(line))
		require.NotNil(t, got, name)
		assert.Equal(t, "main>forward", funcs(got), name)
		assert.Equal(t, "/app/sft.py", got.Frames[0].File, name)
		assert.Equal(t, "out = model(**batch)", got.Frames[0].Code, name)
	}
	for _, line := range []string{"", "CUDA out of memory.", "Traceback (most recent call last):", `Traceback (most recent call last): see File "x"`} {
		assert.Nil(t, Within(7, []byte(line)), line)
	}
}
