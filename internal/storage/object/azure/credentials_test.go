//go:build azure

package azure

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// variables are the environment variables from which credentials can come. Each test case starts without
// them.
var variables = []string{
	"AZURE_STORAGE_KEY", "AZURE_STORAGE_SAS_TOKEN", "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET",
	"AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST",
}

// TestCredentials stores two objects with credentials from each source. The requests must carry the
// credentials of that source.
func TestCredentials(t *testing.T) {
	var mu sync.Mutex
	var carried string // the credentials of the last request
	storage := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		carried = r.Header.Get("Authorization") + " " + r.URL.RawQuery
		mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusCreated)
	}))
	defer storage.Close()
	var exchanges []url.Values
	refusing := false
	tokens := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil || r.URL.Path != "/tenant-1/oauth2/v2.0/token" || r.Header.Get("Authorization") != "" {
			t.Errorf("the request of a token is %s %v, %v", r.URL, r.Header, err)
		}
		mu.Lock()
		defer mu.Unlock()
		exchanges = append(exchanges, r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		if refusing {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"the secret has expired"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"from-entra","token_type":"Bearer","expires_in":3600}`)
	}))
	defer tokens.Close()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("of-kubernetes\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	identity := func(more ...string) map[string]string {
		env := map[string]string{"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1", "AZURE_AUTHORITY_HOST": tokens.URL + "/"}
		for i := 0; i < len(more); i += 2 {
			env[more[i]] = more[i+1]
		}
		return env
	}
	scope := []string{"https://storage.azure.com/.default"}
	federated := url.Values{"grant_type": {"client_credentials"}, "client_id": {"client-1"}, "scope": scope, "client_assertion_type": {assertion}, "client_assertion": {"of-kubernetes"}}
	for _, tt := range []struct {
		name        string
		environment map[string]string
		carried     string     // part of the credentials of a request
		exchange    url.Values // the only request of a token; nil if there must be none
		err         string     // part of the error
	}{
		{"key", map[string]string{"AZURE_STORAGE_KEY": "c2VjcmV0"}, "SharedKey team:", nil, ""},
		{"bad key", map[string]string{"AZURE_STORAGE_KEY": "no base64!"}, "", nil, "AZURE_STORAGE_KEY is not the key"},
		{"signature", map[string]string{"AZURE_STORAGE_SAS_TOKEN": "?sv=2024&sig=s"}, "sig=s", nil, ""},
		{"client secret", identity("AZURE_CLIENT_SECRET", "hidden"), "Bearer from-entra",
			url.Values{"grant_type": {"client_credentials"}, "client_id": {"client-1"}, "scope": scope, "client_secret": {"hidden"}}, ""},
		{"workload identity", identity("AZURE_FEDERATED_TOKEN_FILE", file), "Bearer from-entra", federated, ""},
		{"workload identity before secret", identity("AZURE_FEDERATED_TOKEN_FILE", file, "AZURE_CLIENT_SECRET", "hidden"), "Bearer from-entra", federated, ""},
		{"no file", identity("AZURE_FEDERATED_TOKEN_FILE", file+"-lost"), "", nil, "AZURE_FEDERATED_TOKEN_FILE"},
		{"refused", identity("AZURE_CLIENT_SECRET", "expired"), "", nil, "the secret has expired"},
		{"nothing", nil, "", nil, "set AZURE_STORAGE_KEY"},
		{"half an identity", map[string]string{"AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_SECRET": "s"}, "", nil, "AZURE_CLIENT_ID"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range variables {
				t.Setenv(name, tt.environment[name])
			}
			exchanges, refusing = nil, tt.name == "refused"
			b, err := open("azblob://graphs/prod?account=team&endpoint="+url.QueryEscape(storage.URL), storage.Client().Transport.(*http.Transport).Clone())
			if err == nil {
				defer b.Close()
				err = b.Create(t.Context(), "x", []byte("data"))
			}
			if err == nil {
				err = b.Put(t.Context(), "x", []byte("data"))
			}
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v; want an error that says %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(carried, tt.carried) {
				t.Errorf("the request carries %q; want %q", carried, tt.carried)
			}
			switch {
			case tt.exchange == nil && len(exchanges) > 0, tt.exchange != nil && len(exchanges) != 1:
				t.Errorf("tokens were asked for with %v; want %v, once for two requests", exchanges, tt.exchange)
			case tt.exchange != nil && exchanges[0].Encode() != tt.exchange.Encode():
				t.Errorf("a token was asked for with %v; want %v", exchanges[0], tt.exchange)
			}
		})
	}
	t.Run("no signature in errors", func(t *testing.T) {
		for _, name := range variables {
			t.Setenv(name, "")
		}
		t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2024&sig=hidden-signature")
		b, err := open("azblob://graphs/prod?account=team&endpoint=http://127.0.0.1:1", storage.Client().Transport.(*http.Transport).Clone())
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Create(t.Context(), "x", nil); err == nil || strings.Contains(err.Error(), "hidden-signature") {
			t.Errorf("without a server: %v", err)
		}
	})
}
