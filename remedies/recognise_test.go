package remedies

import (
	"slices"
	"strings"

	"oomscan/classifier"
	"oomscan/parser/messages"
	"oomscan/parser/pattern"
)

const kvNeeded = "To serve at least one request with the models's max seq len (131072), (20.00 GiB KV cache is needed, which is larger than the " +
	"available KV cache memory (11.25 GiB). Based on the available memory, the estimated maximum model length is 73840. Try increasing"

// rootOf is the root that a message makes: with the name of the pattern that matches it, and the fields that this reads.
func rootOf(message string) classifier.Root {
	root := classifier.Root{Message: message}
	for i := range messages.All() {
		m := pattern.Matcher{Pattern: &messages.All()[i]}
		leads := func(literal string) bool { return strings.Contains(message, literal) }
		if m.Kind == "" || !slices.ContainsFunc(m.Literals, leads) {
			continue
		}
		if fields, ok := m.FieldsOf([]rune(message)); ok {
			root.Pattern, root.Allocator, root.Fields = m.Name, m.Allocator, fields
			break
		}
	}
	return root
}
