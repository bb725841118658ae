package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

func TestMock(t *testing.T) {
	got, err := Mock{}.Embed(context.Background(), []string{"red fox", "red foxes", "red fox"}, 33)
	if err != nil || len(got) != 3 || len(got[0]) != 33 {
		t.Fatalf("%d vectors, error %v", len(got), err)
	}
	if !slices.Equal(got[0], got[2]) || slices.Equal(got[0], got[1]) {
		t.Error("different texts have equal vectors")
	}
	var sum float64
	for _, x := range got[0] {
		sum += float64(x) * float64(x)
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("the square of the length is %v", sum)
	}
	// Vectors that users have stored depend on these values.
	two, _ := Mock{}.Embed(context.Background(), []string{""}, 2)
	if want := []float32{0.51638395, -0.8563572}; !slices.Equal(two[0], want) {
		t.Errorf("vector of the empty text is %v, want %v", two[0], want)
	}
}

const key = "secret-key"

// provider is the common interface of OpenAI and Gemini.
type provider interface {
	Model() string
	Embed(ctx context.Context, texts []string, dim int) ([][]float32, error)
}

func both(t *testing.T, base string, timeout time.Duration) map[string]provider {
	t.Helper()
	c := Config{BaseURL: base, Model: "m", Key: key, Timeout: timeout, Tries: 1}
	o, err := NewOpenAI(c)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGemini(c)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]provider{"openai": o, "gemini": g}
}

// length returns the vector that the test's servers compute for a text.
func length(s string) []float32 { return []float32{float32(len(s)), 1} }

func TestProviders(t *testing.T) {
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		var in struct {
			Model      string
			Input      []string
			Dimensions int
			Requests   []struct {
				Model                string
				Content              struct{ Parts []struct{ Text string } }
				OutputDimensionality int
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		var items []string
		switch r.URL.Path {
		case "/v1/embeddings":
			if r.Header.Get("Authorization") != "Bearer "+key || in.Model != "m" || in.Dimensions != 2 {
				t.Errorf("asked for %+v with %v", in, r.Header)
			}
			for i := len(in.Input) - 1; i >= 0; i-- { // clients must not rely on the order
				items = append(items, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(in.Input[i])))
			}
			fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(items, ","))
		case "/v1/models/m:batchEmbedContents":
			if r.Header.Get("X-Goog-Api-Key") != key || in.Requests[0].Model != "models/m" || in.Requests[0].OutputDimensionality != 2 {
				t.Errorf("asked for %+v with %v", in, r.Header)
			}
			for _, q := range in.Requests {
				items = append(items, fmt.Sprintf(`{"values":[%d,1]}`, len(q.Content.Parts[0].Text)))
			}
			fmt.Fprintf(w, `{"embeddings":[%s]}`, strings.Join(items, ","))
		default:
			t.Errorf("path %s", r.URL.Path)
		}
	}))
	defer server.Close()
	var texts []string
	for i := range maxBatch + 7 {
		texts = append(texts, strings.Repeat("x", i))
	}
	for name, p := range both(t, server.URL+"/v1/", 0) {
		requests = 0
		got, err := p.Embed(context.Background(), texts, 2)
		if err != nil || len(got) != len(texts) || requests != 2 || p.Model() != "m" {
			t.Fatalf("%s: %d vectors in %d requests, error %v", name, len(got), requests, err)
		}
		for i, v := range got {
			if !slices.Equal(v, length(texts[i])) {
				t.Errorf("%s: text %d has %v", name, i, v)
			}
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
		status           int
	}{
		{"refused", `{"error":` + "\n" + `"bad key"}`, `401 Unauthorized: {"error": "bad key"}`, 401},
		{"a long refusal", strings.Repeat("no ", 1000), "…", 500},
		{"no JSON", "<html>", "not JSON", 200},
		{"too few", `{"data":[],"embeddings":[]}`, "", 200},
		{"too short", `{"data":[{"index":0,"embedding":[1]}],"embeddings":[{"values":[1]}]}`, "1 components, expected 2", 200},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			fmt.Fprint(w, c.body)
		}))
		for name, p := range both(t, server.URL, 0) {
			_, err := p.Embed(context.Background(), []string{"x"}, 2)
			var un *engine.Unavailable
			if !errors.As(err, &un) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), key) || len(err.Error()) > 600 {
				t.Errorf("%s, %s: %v", name, c.name, err)
			}
		}
		server.Close()
	}
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	for name, p := range both(t, server.URL, 20*time.Millisecond) {
		_, err := p.Embed(context.Background(), []string{"x"}, 2)
		var un *engine.Unavailable
		if !errors.As(err, &un) || !strings.Contains(err.Error(), "20ms") {
			t.Errorf("%s that does not answer: %v", name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := p.Embed(ctx, []string{"x"}, 2); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", name, err)
		}
	}
}

func TestConfigs(t *testing.T) {
	for _, c := range []Config{{}, {Model: "m", BaseURL: "ftp://x"}, {Model: "m", BaseURL: "nowhere"}, {Model: "m", BaseURL: ":"}} {
		if _, err := NewOpenAI(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	if p, err := NewGemini(Config{Model: "m"}); err != nil || p.c.BaseURL != DefaultGemini || p.c.Timeout != DefaultTimeout {
		t.Errorf("%+v, error %v", p, err)
	}
}

// TestTries sends requests again, as long as the answers say that this can help.
func TestTries(t *testing.T) {
	good := `{"data":[{"index":0,"embedding":[1,2]}]}`
	type answer struct {
		status int
		after  string
	}
	for _, c := range []struct {
		name    string
		answers []answer // the last one repeats
		sent    int
		refused bool
		wait    time.Duration // in the error
		lasts   bool          // the fault is in the settings
	}{
		{"limited for no time", []answer{{429, "0"}, {200, ""}}, 2, false, 0, false},
		{"limited until a past date", []answer{{503, "Thu, 01 Jan 1970 00:00:00 GMT"}, {200, ""}}, 2, false, 0, false},
		{"overloaded", []answer{{500, ""}, {200, ""}}, 2, false, 0, false},
		{"limited for a second", []answer{{429, "1"}, {200, ""}}, 2, false, 0, false},
		{"limited for too long", []answer{{429, "3600"}}, 1, false, time.Hour, false},
		{"down", []answer{{503, ""}}, 2, false, 0, false},
		{"a bad key", []answer{{401, ""}}, 1, false, 0, true},
		{"a text that is too long", []answer{{400, ""}, {200, ""}}, 2, true, 0, false},
		{"a request that is too large", []answer{{413, ""}, {200, ""}}, 2, true, 0, false},
		{"a bad key that is called a bad request", []answer{{400, ""}}, 2, false, 0, true},
		{"limited after a text that is too long", []answer{{400, ""}, {429, "3600"}}, 2, false, time.Hour, false},
	} {
		sent := 0
		var last time.Time
		var gap time.Duration
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			gap, last = clock.Since(last), clock.Now()
			a := c.answers[min(sent, len(c.answers)-1)]
			sent++
			if a.after != "" {
				w.Header().Set("Retry-After", a.after)
			}
			w.WriteHeader(a.status)
			fmt.Fprint(w, good)
		}))
		p, err := NewOpenAI(Config{BaseURL: server.URL, Model: "m", Tries: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Embed(context.Background(), []string{"x"}, 2)
		server.Close()
		fails := c.refused || c.answers[len(c.answers)-1].status != 200
		if sent != c.sent || (err != nil) != fails || errors.As(err, new(*engine.TextRefused)) != c.refused {
			t.Errorf("%s: %d requests, error %v", c.name, sent, err)
		}
		var un *engine.Unavailable
		if errors.As(err, &un) == c.refused && fails || un != nil && (un.RetryAfter != c.wait || un.Settings != c.lasts || engine.IsRetryable(err) == c.lasts) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if c.answers[0].after == "1" && gap < time.Second {
			t.Errorf("%s: sent again after %s", c.name, gap)
		}
	}
}
