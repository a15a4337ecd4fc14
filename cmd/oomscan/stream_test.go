package main

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"oomscan/cmd/oomscan/internal/cli"
)

const oomLine = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 17.66 GiB. GPU 0 has a total capacity of 79.18 GiB of which 4.97 GiB is free. Of the allocated memory 100.77 GiB is allocated by PyTorch"

// TestAnOpenPipeIsAnsweredWithinASecond writes one line, with and without its newline, and keeps the pipe open.
func TestAnOpenPipeIsAnsweredWithinASecond(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"with newline": oomLine + "\n", "without newline": oomLine} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, write, err := os.Pipe()
			require.NoError(t, err)
			read, out, err := os.Pipe()
			require.NoError(t, err)
			status := make(chan int, 1)
			go func() {
				var errs bytes.Buffer
				status <- cli.Main([]string{"--format", "ndjson"}, cli.Streams{In: in, Out: out, Err: &errs, Env: func(string) string { return "" }})
				out.Close()
			}()
			_, err = write.WriteString("epoch 1\n" + text)
			require.NoError(t, err)
			begin := time.Now()
			lines := bufio.NewReader(read)
			line, err := lines.ReadString('\n')
			require.NoError(t, err)
			assert.Less(t, time.Since(begin), 5*time.Second, "a busy machine may be slow; it never waits for the end of the input")
			assert.Contains(t, line, `"requested_bytes":18962280612`)
			// the rest of the line and the end of the input bring no second report of the same incident
			_, err = write.WriteString(", and 1.00 GiB is reserved by PyTorch but unallocated.\nbye\n")
			require.NoError(t, err)
			require.NoError(t, write.Close())
			rest, _ := lines.ReadString(0)
			assert.Empty(t, strings.TrimSpace(rest))
			assert.Equal(t, 1, <-status)
		})
	}
}
