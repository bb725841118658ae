package s3_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/storage/object/s3"
)

// credentialVariables are the environment variables from which credentials can come. Each test case starts
// without them.
var credentialVariables = []string{
	"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_PROFILE",
	"AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_ROLE_SESSION_NAME",
	"AWS_ENDPOINT_URL_STS", "AWS_REGION", "AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
}

// TestCredentials stores an object with credentials from each source. The request must carry the access key
// of that source and, for temporary credentials, their session token.
func TestCredentials(t *testing.T) {
	var mu sync.Mutex
	var authorization, session string // headers of the last request
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		authorization, session = r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token")
		mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("ETag", `"1"`)
	}))
	defer storage.Close()
	exchanged := 0
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		exchanged++
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		for name, want := range map[string]string{"Action": "AssumeRoleWithWebIdentity", "WebIdentityToken": "the-token", "RoleArn": "arn:aws:iam::1:role/graphs"} {
			if got := r.Form.Get(name); got != want {
				t.Errorf("the exchange of the token has %s %q; want %q", name, got, want)
			}
		}
		fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
			<AccessKeyId>from-sts</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>for-a-while</SessionToken>
			<Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
			clock.Now().UTC().AddDate(0, 0, 1).Format("2006-01-02T15:04:05Z"))
	}))
	defer tokens.Close()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	profiles := file("credentials", "[default]\naws_access_key_id = from-default\naws_secret_access_key = s\n\n[graphs]\naws_access_key_id = from-profile\naws_secret_access_key = s\n")
	identity := file("token", "the-token")
	for _, tt := range []struct {
		name         string
		environment  map[string]string
		key, session string
	}{
		{"environment", map[string]string{"AWS_ACCESS_KEY_ID": "from-env", "AWS_SECRET_ACCESS_KEY": "s"}, "from-env", ""},
		{"temporary, in the environment", map[string]string{"AWS_ACCESS_KEY_ID": "from-env", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "short"}, "from-env", "short"},
		{"default profile", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": profiles}, "from-default", ""},
		{"named profile", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": profiles, "AWS_PROFILE": "graphs"}, "from-profile", ""},
		{"environment before profile", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": profiles, "AWS_ACCESS_KEY_ID": "from-env", "AWS_SECRET_ACCESS_KEY": "s"}, "from-env", ""},
		{"web identity", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": identity, "AWS_ROLE_ARN": "arn:aws:iam::1:role/graphs", "AWS_ROLE_SESSION_NAME": "og-1", "AWS_ENDPOINT_URL_STS": tokens.URL}, "from-sts", "for-a-while"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("HOME", dir)
			for _, name := range credentialVariables {
				t.Setenv(name, tt.environment[name])
			}
			b, err := s3.Open("s3://graphs/prod?endpoint=" + url.QueryEscape(storage.URL))
			must(t, err)
			must(t, b.Create(t.Context(), "x", []byte("data")))
			must(t, b.Put(t.Context(), "x", []byte("data")))
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(authorization, "Credential="+tt.key+"/") || session != tt.session {
				t.Errorf("the request has Authorization %q and session token %q; want key %s and session token %q", authorization, session, tt.key, tt.session)
			}
		})
	}
	if exchanged != 1 {
		t.Errorf("the web identity was exchanged %d times for two requests; want once", exchanged)
	}
}
