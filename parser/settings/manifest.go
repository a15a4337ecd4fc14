package settings

import (
	"encoding/base64"
	"strings"
)

// manifest is what a [Reader] knows of the Kubernetes object that the settings are part of. Those in a Secret's data and stringData are
// credentials, whatever their names. Source: the API reference of Secret v1.
type manifest struct {
	parent  string // of its fields, in a list of objects
	version bool   // it has a version
	kind    string // unknown until then: kubectl prints the data first
}

// hides reports whether a setting is a credential by its place. It must see all settings of an object, in order.
func (m *manifest) hides(key, value string) bool {
	parent, name := "", key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		parent, name = key[:i], key[i+1:]
	}
	switch {
	case strings.Contains(parent, "metadata"): // an owner has a kind too
	case name == "apiVersion", name == "api_version": // as the client of Python writes it
		if m.version || m.parent != parent {
			*m = manifest{parent: parent}
		}
		m.version = true
	case name == "kind":
		if m.kind != "" || m.parent != parent {
			*m = manifest{parent: parent}
		}
		m.kind = value
	}
	field := strings.TrimPrefix(strings.TrimPrefix(key, m.parent), ".")
	return strings.HasPrefix(field, "stringData.") ||
		strings.HasPrefix(field, "data.") && (m.kind == "Secret" || m.kind == "" && m.version) && isEncoded(value)
}

// isEncoded reports whether a value may be Base64, as all data of a Secret are. A number may be the setting of another object.
func isEncoded(value string) bool {
	_, err := base64.StdEncoding.DecodeString(value)
	return err == nil && strings.Trim(value, "0123456789") != ""
}
