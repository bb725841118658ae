package cluster

import "testing"

// TestReceiver reads hosts of webhooks.
func TestReceiver(t *testing.T) {
	for text, want := range map[string]string{
		"hooks.example.com": "hooks.example.com", "Hooks.Example.com:443": "hooks.example.com", "hooks.example.com:8443": "hooks.example.com:8443",
		"[fd00::1]": "fd00::1", "[fd00::1]:8443": "[fd00::1]:8443",
		"": "", "https://hooks.example.com": "", "hooks.example.com/a": "", "*.example.com": "", "a@hooks.example.com": "", "hooks.example.com:": "", "hooks.example.com:x": "",
	} {
		if got, err := receiver(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
