// Package ascii classifies the bytes of log lines. Package unicode would decode runes, which keys, class names and file
// names in logs do not need.
package ascii

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// IsLower reports whether c is a lower-case letter.
func IsLower(c byte) bool { return 'a' <= c && c <= 'z' }

// IsUpper reports whether c is an upper-case letter.
func IsUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// IsLetter reports whether c is a letter.
func IsLetter(c byte) bool { return IsLower(c) || IsUpper(c) }

// IsWord reports whether c is a letter, a digit or an underscore.
func IsWord(c byte) bool { return IsLetter(c) || IsDigit(c) || c == '_' }

// IsBlank reports whether c is a space or a tab.
func IsBlank(c byte) bool { return c == ' ' || c == '\t' }
