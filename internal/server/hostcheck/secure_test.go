package hostcheck

import "testing"

func TestParseSecureURL(t *testing.T) {
	for s, want := range map[string]string{
		"https://login.example.com":                  "",
		"https://login.example.com:8443/realms/main": "",
		"https://login.example.com/keys?p=policy":    "",
		"http://127.0.0.1:5000":                      "",
		"http://localhost/x":                         "",
		"http://[::1]:5000/":                         "",
		"https://[2001:db8::1]/":                     "",

		"http://login.example.com":            `"http://login.example.com" is not a URL that the server can trust: http is only for this machine; use https for another machine; expected one such as https://login.example.com`,
		"http://127.0.0.1.evil.example":       `"http://127.0.0.1.evil.example" is not a URL that the server can trust: http is only for this machine; use https for another machine; expected one such as https://login.example.com`,
		"http://localhost.evil.example":       `"http://localhost.evil.example" is not a URL that the server can trust: http is only for this machine; use https for another machine; expected one such as https://login.example.com`,
		"http://127.0.0.1@evil.example":       `the address is not a URL that the server can trust: http is only for this machine; use https for another machine; expected one such as https://login.example.com`,
		"https://user:word@login.example.com": `the address is not a URL that the server can trust: it has a user or a fragment; expected one such as https://login.example.com`,
		"https://login.example.com/#x":        `"https://login.example.com/#x" is not a URL that the server can trust: it has a user or a fragment; expected one such as https://login.example.com`,
		"ftp://login.example.com":             `"ftp://login.example.com" is not a URL that the server can trust: its scheme is not https; expected one such as https://login.example.com`,
		"login.example.com":                   `"login.example.com" is not a URL that the server can trust: its scheme is not https; expected one such as https://login.example.com`,
		"https://":                            `"https://" is not a URL that the server can trust: it has no valid host; expected one such as https://login.example.com`,
		"https://login.example.com:port":      `"https://login.example.com:port" is not a URL that the server can trust: it is not a valid URL; expected one such as https://login.example.com`,
		"https://login example.com":           `"https://login example.com" is not a URL that the server can trust: it is not a valid URL; expected one such as https://login.example.com`,
		"file:///etc/passwd":                  `"file:///etc/passwd" is not a URL that the server can trust: its scheme is not https; expected one such as https://login.example.com`,
		"":                                    `"" is not a URL that the server can trust: its scheme is not https; expected one such as https://login.example.com`,
	} {
		u, err := ParseSecureURL(s)
		if want == "" {
			if err != nil || u.String() != s {
				t.Errorf("%q: %v, %v", s, u, err)
			}
			continue
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", s, err, want)
		}
	}
}

func TestIsLoopbackBind(t *testing.T) {
	for bind, want := range map[string]bool{
		"127.0.0.1:0": true, "localhost:8080": true, "[::1]:0": true, "127.8.9.10:1": true,
		":8080": false, "0.0.0.0:0": false, "[::]:0": false, "192.0.2.1:1": false, "nonsense": false, "": false,
	} {
		if got := IsLoopbackBind(bind); got != want {
			t.Errorf("%q: %v", bind, got)
		}
	}
}
