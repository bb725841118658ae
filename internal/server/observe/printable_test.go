package observe

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
)

// TestLogIsPrintable logs every control character in both formats.
func TestLogIsPrintable(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x100; r++ {
		all.WriteRune(r)
	}
	sent := all.String() + "\xc2\x7f\xc2" // ends with invalid UTF-8
	for _, format := range Formats {
		var b bytes.Buffer
		log, err := NewLogger(&b, format, "info")
		if err != nil {
			t.Fatal(err)
		}
		log.Info("said", "branch", sent, "plain", "äöü \u00a0©")
		line := strings.TrimSuffix(b.String(), "\n")
		if i := strings.IndexFunc(line, unicode.IsControl); i >= 0 {
			t.Errorf("%s: found %q at byte %d of %q", format, line[i], i, line)
		}
		if !strings.Contains(line, "äöü") || !strings.Contains(line, "©") {
			t.Errorf("%s: letters are gone: %q", format, line)
		}
	}
}
