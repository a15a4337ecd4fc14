package epilog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"oomscan/parser/source"
)

// WrapperName is the name of the script that Install writes. Under this name, the program itself is the hook too.
const WrapperName = "oomscan-epilog"

// ConfigName is the name of the configuration that Install writes next to it.
const ConfigName = "epilog.yaml"

// wrapper is the script for slurm.conf, because Slurm passes no arguments to a hook.
const wrapper = `#!/bin/sh
# The Slurm hook of oomscan: Epilog=, EpilogSlurmctld= or TaskEpilog=. A hook that fails, hangs or prints drains the
# node. This one never fails, prints nothing (but a TaskEpilog its finding, into the job's log), ends within 50 seconds
# whatever happens, and does nothing when oomscan is gone.
oomscan=%s
config=%s
[ -x "$oomscan" ] || exit 0
limit=/usr/bin/timeout
[ -x "$limit" ] && limit="$limit --foreground -k 2 50" || limit=
if [ "$SLURM_SCRIPT_CONTEXT" = epilog_task ]; then
    $limit "$oomscan" epilog --config "$config" </dev/null >/dev/null
else
    $limit "$oomscan" epilog --config "$config" </dev/null >/dev/null 2>&1
fi
exit 0
`

// Install writes the wrapper and a commented-out configuration into a folder, which it creates if necessary. It keeps
// an existing configuration. program is the path of oomscan. It returns the files written.
//
// It refuses a folder in which Slurm may run all files (Epilog=/etc/slurm/epilog.d/*): Slurm would run the
// configuration too, and drain the node.
func Install(dir, program string) (written []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if strings.HasSuffix(dir, ".d") {
		return nil, errors.New("every file of a folder of that name may be run by Slurm, the configuration too: install elsewhere and link the wrapper into it")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	script, config := filepath.Join(dir, WrapperName), filepath.Join(dir, ConfigName)
	text := fmt.Sprintf(wrapper, source.Quote(program), source.Quote(config))
	// Slurm may start it at any moment, so it must never be incomplete.
	if err := os.WriteFile(script+".new", []byte(text), 0o755); err != nil {
		return nil, err
	}
	if err := errors.Join(os.Chmod(script+".new", 0o755), os.Rename(script+".new", script)); err != nil {
		return nil, err
	}
	written = append(written, script)
	f, err := os.OpenFile(config, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return written, nil
	}
	if err != nil {
		return written, err
	}
	_, err = f.Write(Sample)
	return append(written, config), errors.Join(err, f.Close())
}

// Unreachable returns what prevents the job's users from starting a program, as the hook does; empty if nothing does.
func Unreachable(program string) string {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return err.Error()
	}
	if info, err := os.Stat(real); err != nil || info.Mode()&0o005 != 0o005 {
		return real + " may not be read and started by all users"
	}
	for dir := filepath.Dir(real); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode()&0o001 == 0 {
			return dir + " may not be entered by all users"
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
