package settings

import "oomscan/parser/secret"

// masked stands for the value of a secret.
const masked = secret.Mask

// isSecret reports whether a setting's value must not leave the log. Of a value that holds a credential nothing is kept.
func isSecret(key, value string) bool {
	switch value {
	case "", "None", "null", "True", "False", "true", "false", "[]", "{}":
		return false
	}
	return secret.Key(key) || secret.Text(value) != value || secret.Container(value)
}
