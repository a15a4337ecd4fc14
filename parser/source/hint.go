package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// hintFor says what to do about a path that could not be read.
func hintFor(path string, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "you may not read it: see ls -ld " + Quote(path)
	case !errors.Is(err, fs.ErrNotExist):
		return ""
	case path == "":
		return "the path is empty: is a shell variable unset?"
	case strings.HasPrefix(path, "~"):
		return "the shell expands ~ only without quotes"
	}
	if _, err := os.Lstat(path); err == nil {
		return "it is a link to what is not there: see ls -l " + Quote(path)
	}
	if name, ok := nearest(path); ok {
		return "did you mean " + Quote(name) + "?"
	}
	if strings.ContainsAny(path, "*?[") {
		return "no file matches this pattern"
	}
	if dir := filepath.Dir(path); dir != "." {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return "there is no folder " + Quote(dir) + " either"
		}
	}
	return ""
}

// unpackHint says how to read a file in a format that oomscan cannot unpack.
func unpackHint(path, format string) string {
	if format == "rar" {
		return "unrar p -inul " + Quote(path) + " | oomscan"
	}
	return "7z x -so " + Quote(path) + " | oomscan"
}

// Quote quotes a path for a POSIX shell.
func Quote(path string) string {
	if path != "" && strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// maxNames bounds how many file names are compared with a misspelled one.
const maxNames = 4096

// nearest returns the path next to a missing one whose name is most similar.
func nearest(path string) (string, bool) {
	dir, name := filepath.Split(filepath.Clean(path))
	f, err := os.Open(filepath.Join(dir, "."))
	if err != nil {
		return "", false
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxNames)
	best, ok := Closest(name, names)
	return dir + best, ok
}

// Closest returns the word that a misspelled one most likely means. If more than a quarter of the letters differ it
// is another word, and ok is false. Case does not count.
func Closest(name string, among []string) (best string, ok bool) {
	limit := min(max(1, len(name)/4)+1, max(1, len(name))) // with a one-letter name, every letter could be wrong
	least := limit
	for _, n := range among {
		d := distance(name, n)
		if strings.EqualFold(n, name) {
			d = 0
		}
		if d < least || d == least && d < limit && likelier(name, n, best) {
			best, least = n, d
		}
	}
	return best, best != ""
}

// likelier reports whether a is the word that was meant, of two that are equally near: few typos are in the first letter.
func likelier(name, a, b string) bool {
	first := name[:min(1, len(name))]
	if inA, inB := strings.HasPrefix(a, first), strings.HasPrefix(b, first); inA != inB {
		return inA
	}
	return a < b
}

// distance returns the edit distance of two names in bytes. Swapping two neighbors counts as one edit.
func distance(a, b string) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			swap := prev[j-1]
			if a[i-1] != b[j-1] {
				swap++
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, swap)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
