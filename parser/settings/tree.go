package settings

import "bytes"

// The signs of a tree that rich draws: a branch, the first line below it, and the lines after that.
var (
	branches = [][]byte{[]byte("├── "), []byte("└── ")}
	leaves   = [][]byte{[]byte("│   └── "), []byte("    └── "), []byte("│       "), []byte("        ")}
	trunk    = []byte("│")
)

// tree reads the configuration that the template of Lightning and Hydra prints with rich: a branch for each group, with its YAML below.
//
//	├── data
//	│   └── _target_: src.data.DataModule
//	│       num_workers: 32
type tree struct{ yamlBlock }

// startTree reads the first branch of such a tree.
func (r *Reader) startTree(text []byte) bool {
	if _, ok := branch(text); !ok || r.open != nil {
		return false
	}
	return r.start(&tree{yamlBlock{wholeFile: true, deeper: -1}}, text)
}

func (t *tree) feed(r *Reader, text []byte) (fits, more bool) {
	if name, ok := branch(text); ok {
		return t.yamlBlock.feed(r, append(name, ':'))
	}
	if bytes.Equal(text, trunk) || len(text) == 0 {
		return true, true
	}
	for _, l := range leaves {
		if rest, ok := bytes.CutPrefix(text, l); ok {
			if _, _, pair := yamlKey(bytes.TrimLeft(rest, " "), true); !pair && t.keys < 2 {
				return false, false // a tree of files
			}
			t.yamlBlock.feed(r, append([]byte("  "), rest...)) // a value alone is the group's
			return true, true
		}
	}
	return false, false
}

// branch returns the name of a group.
func branch(text []byte) (name []byte, ok bool) {
	for _, b := range branches {
		if rest, found := bytes.CutPrefix(text, b); found && isName(string(rest)) {
			return bytes.Clone(rest), true
		}
	}
	return nil, false
}

// isBranch is a quick test for a line of a tree. It does not allocate.
func isBranch(text []byte) bool {
	return bytes.HasPrefix(text, branches[0]) || bytes.HasPrefix(text, branches[1])
}
