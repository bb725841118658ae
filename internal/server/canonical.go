package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/studio"
)

// singleHeaders are the headers of which the server takes one value. A proxy may join two equal values
// with a comma. The values have no comma themselves.
var singleHeaders = []string{"Authorization", "Content-Type", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"}

// canonical replaces other forms of a request that mean the same: a header that is repeated with an equal
// value, a slash at the end of the path, and an escaped letter in the path. It comes before all checks, so
// that every check and every transport sees one form.
func canonical(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if len(values) > 1 && allEqual(values) {
				r.Header[name] = values[:1]
			}
		}
		for _, name := range singleHeaders {
			if values := r.Header[name]; len(values) == 1 && strings.Contains(values[0], ",") {
				if parts := split(values[0]); allEqual(parts) {
					r.Header[name] = parts[:1]
				}
			}
		}
		if u := canonicalURL(r.URL); u != nil {
			changed := *r
			changed.URL, r = u, &changed
		}
		next.ServeHTTP(w, r)
	})
}

// allEqual reports whether all texts are equal.
func allEqual(texts []string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return s != texts[0] })
}

// split returns the parts of a text between its commas, without the spaces around them.
func split(text string) []string {
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// canonicalURL returns the URL with the canonical form of its path, or nil if it has that form. The
// paths of the studio keep the slash at their end, which separates a folder from a file.
func canonicalURL(u *url.URL) *url.URL {
	path := u.EscapedPath()
	short := unescapeUnreserved(path)
	if strings.HasSuffix(short, "/") && len(short) > 1 && !strings.HasPrefix(short, studio.Path) {
		short = short[:len(short)-1]
	}
	if short == path {
		return nil
	}
	plain, err := url.PathUnescape(short)
	if err != nil {
		return nil
	}
	changed := *u
	changed.Path, changed.RawPath = plain, ""
	if changed.EscapedPath() != short {
		changed.RawPath = short
	}
	return &changed
}

// unescapeUnreserved replaces each escape of a character that needs none (RFC 3986, section 6.2.2.2).
// It leaves escaped slashes as they are.
func unescapeUnreserved(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			if c, err := url.PathUnescape(path[i : i+3]); err == nil && isUnreserved(c[0]) {
				b.WriteString(c)
				i += 2
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// isUnreserved reports whether a character stands for itself everywhere in a URL.
func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}
