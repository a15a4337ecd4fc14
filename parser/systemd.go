package parser

// systemdPatterns are the words of systemd, systemd-oomd and earlyoom.
func systemdPatterns() []Pattern {
	return nil
}
