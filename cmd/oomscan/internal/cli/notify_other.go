//go:build !linux

package cli

// notifier would tell that something happened in folders. Elsewhere than on Linux the system's notifications open every
// file of a folder, or tell nothing of files that grow: everything is polled.
type notifier struct{ paths chan string }

func newNotifier() *notifier { return &notifier{} }

func (n *notifier) add(string) bool { return false }

func (n *notifier) close() {}
