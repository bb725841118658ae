package embed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Config configures a provider over HTTP: its address, model and key.
type Config struct {
	// BaseURL is the address, without the path of an operation; empty means the provider's own
	// address.
	BaseURL string
	Model   string // name of the model
	Key     string // secret, so no error contains it; empty to send none
	// Timeout limits the time of one request; 0 means DefaultTimeout.
	Timeout time.Duration
	// Tries is the maximum number of times that one request is sent; 0 means DefaultTries. A request is sent again after a
	// failed connection, a timeout, and an answer with 408, 429 or 5xx: when the answer says in Retry-After, or after growing times.
	Tries uint
	// Client sends the requests; nil means http.DefaultClient.
	Client *http.Client
}

const (
	// DefaultTimeout is the time limit of one request if Config.Timeout is 0: 30 seconds.
	DefaultTimeout = 30 * time.Second
	// DefaultTries is the maximum number of times that a request is sent if Config.Tries is 0.
	DefaultTries = 4
	// DefaultOpenAI is the address of OpenAI.
	DefaultOpenAI = "https://api.openai.com/v1"
	// DefaultGemini is the address of Gemini.
	DefaultGemini = "https://generativelanguage.googleapis.com/v1beta"

	// maxBatch is the maximum number of texts in one request.
	maxBatch = 100
	// maxResponse is the maximum size of a response, in bytes.
	maxResponse = 64 << 20
	// maxWait is the longest time to wait between two requests; a provider that asks for more gets no further request.
	maxWait = time.Minute
	// maxQuoted is the maximum number of bytes of a refusal that an error quotes.
	maxQuoted = 300
	// harmless is a text that each provider embeds.
	harmless = "text"
	// otherAPI ends an error about an answer that no provider of embeddings gives.
	otherAPI = "; check that base_url is the address of an API for embeddings"
)

// OpenAI gets vectors from a server that speaks OpenAI's embeddings protocol.
type OpenAI struct{ c Config }

// NewOpenAI returns a provider. The error says what the configuration lacks.
func NewOpenAI(c Config) (*OpenAI, error) {
	if err := c.complete("openai-compatible", DefaultOpenAI); err != nil {
		return nil, err
	}
	return &OpenAI{c}, nil
}

// Model returns the configured model.
func (p *OpenAI) Model() string { return p.c.Model }

// Embed returns a vector of dim components for each text. The error is an *engine.TextRefused, an
// *engine.Unavailable, or the error of the context if the context has ended.
func (p *OpenAI) Embed(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	header := http.Header{}
	if p.c.Key != "" {
		header.Set("Authorization", "Bearer "+p.c.Key)
	}
	return batches(texts, func(texts []string) ([][]float32, error) {
		var out struct {
			Data []struct {
				Index     int       `json:"index"`
				Embedding []float32 `json:"embedding"`
			} `json:"data"`
		}
		in := map[string]any{"model": p.c.Model, "input": texts, "dimensions": dim, "encoding_format": "float"}
		if err := p.c.post(ctx, "embeddings", header, in, &out); err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(texts))
		for _, d := range out.Data {
			if d.Index < 0 || d.Index >= len(vectors) {
				return nil, p.c.fault("it answered with a vector for text %d, but the request has %d texts"+otherAPI, d.Index+1, len(texts))
			}
			vectors[d.Index] = d.Embedding
		}
		return vectors, p.c.check(vectors, len(texts), dim)
	})
}

// Gemini gets vectors from the Gemini API.
type Gemini struct{ c Config }

// NewGemini returns a provider. The error says what the configuration lacks.
func NewGemini(c Config) (*Gemini, error) {
	if err := c.complete("gemini", DefaultGemini); err != nil {
		return nil, err
	}
	return &Gemini{c}, nil
}

// Model returns the configured model.
func (p *Gemini) Model() string { return p.c.Model }

// Embed returns a vector of dim components for each text. The error is an *engine.TextRefused, an
// *engine.Unavailable, or the error of the context if the context has ended.
func (p *Gemini) Embed(ctx context.Context, texts []string, dim int) ([][]float32, error) {
	header := http.Header{}
	if p.c.Key != "" {
		header.Set("X-Goog-Api-Key", p.c.Key)
	}
	model := "models/" + strings.TrimPrefix(p.c.Model, "models/")
	type part struct {
		Text string `json:"text"`
	}
	type content struct {
		Parts []part `json:"parts"`
	}
	type request struct {
		Model      string  `json:"model"`
		Content    content `json:"content"`
		Dimensions int     `json:"outputDimensionality"`
	}
	return batches(texts, func(texts []string) ([][]float32, error) {
		var out struct {
			Embeddings []struct {
				Values []float32 `json:"values"`
			} `json:"embeddings"`
		}
		requests := make([]request, len(texts))
		for i, t := range texts {
			requests[i] = request{model, content{[]part{{t}}}, dim}
		}
		if err := p.c.post(ctx, model+":batchEmbedContents", header, map[string]any{"requests": requests}, &out); err != nil {
			return nil, err
		}
		vectors := make([][]float32, len(out.Embeddings))
		for i, e := range out.Embeddings {
			vectors[i] = e.Values
		}
		return vectors, p.c.check(vectors, len(texts), dim)
	})
}

// complete fills in defaults. It returns an error if the model is missing or the address is not an
// HTTP URL.
func (c *Config) complete(provider, base string) error {
	if c.Model == "" {
		return fmt.Errorf("embed: the %s provider has no model; name one", provider)
	}
	if c.BaseURL == "" {
		c.BaseURL = base
	}
	if u, err := url.Parse(c.BaseURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("embed: the address of the %s provider is %q, expected a URL with http or https, such as %s", provider, c.BaseURL, base)
	}
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Tries == 0 {
		c.Tries = DefaultTries
	}
	if c.Client == nil {
		c.Client = http.DefaultClient
	}
	return nil
}

// batches calls embed with at most maxBatch texts at a time and joins the vectors. Providers refuse a request for a text with the
// same status as for a key, a model or a length of vectors that they do not know, so batches then sends a text that each embeds.
func batches(texts []string, embed func([]string) ([][]float32, error)) ([][]float32, error) {
	var all [][]float32
	for len(texts) > 0 {
		n := min(maxBatch, len(texts))
		vectors, err := embed(texts[:n])
		if refused := (*engine.TextRefused)(nil); errors.As(err, &refused) {
			if _, other := embed([]string{harmless}); errors.As(other, new(*engine.TextRefused)) {
				return nil, &engine.Unavailable{Reason: refused.Reason + "; it refuses every text, so check its settings", Settings: true}
			} else if other != nil {
				return nil, other
			}
		}
		if err != nil {
			return nil, err
		}
		all, texts = append(all, vectors...), texts[n:]
	}
	return all, nil
}

// post sends a request, again if it may succeed later, and decodes the response into `out`.
func (c *Config) post(ctx context.Context, operation string, header http.Header, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return c.fault("the request cannot be written: %v", err)
	}
	var last error // the library wraps it
	answer, err := backoff.Retry(ctx, func() ([]byte, error) {
		answer, again, err := c.attempt(ctx, operation, header, body)
		var failed *engine.Unavailable
		switch last = err; {
		case err != nil && !again:
			return nil, backoff.Permanent(err)
		case errors.As(err, &failed) && failed.RetryAfter > 0:
			if until, ok := ctx.Deadline(); ok && clock.Until(until) <= failed.RetryAfter {
				return nil, backoff.Permanent(err) // the caller learns why, and when to call again
			}
			return nil, &backoff.RetryAfterError{Duration: failed.RetryAfter}
		}
		return answer, err
	}, backoff.WithMaxTries(c.Tries), backoff.WithMaxElapsedTime(0))
	switch {
	case err != nil && errors.As(last, new(*engine.Unavailable)):
		return last
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return last
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return c.fault("its answer is not JSON of the expected form: %v"+otherAPI, err)
	}
	return nil
}

// attempt sends a request once and returns the body of the answer. After an error, `again` reports whether the same request may
// succeed later.
func (c *Config) attempt(ctx context.Context, operation string, header http.Header, body []byte) (answer []byte, again bool, err error) {
	within, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodPost, c.BaseURL+"/"+operation, bytes.NewReader(body))
	if err != nil {
		return nil, false, c.fault("the request failed: %v", err)
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := c.Client.Do(req)
	if err == nil {
		answer, err = io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
		_ = res.Body.Close() // the response has been read, so this error does not matter
	}
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case within.Err() != nil:
		return nil, true, c.fault("it did not answer within %s", c.Timeout)
	case err != nil:
		return nil, true, c.fault("%v", err)
	case len(answer) > maxResponse:
		return nil, false, c.fault("it answered with more than %d bytes"+otherAPI, maxResponse)
	}
	failed := c.fault("it answered %s: %s", res.Status, quote(answer))
	switch status := res.StatusCode; {
	case status == http.StatusOK:
		return answer, false, nil
	case status == http.StatusBadRequest, status == http.StatusRequestEntityTooLarge, status == http.StatusUnprocessableEntity:
		return nil, false, &engine.TextRefused{Reason: failed.Reason}
	case status != http.StatusRequestTimeout && status != http.StatusTooManyRequests && status < http.StatusInternalServerError:
		failed.Settings = true
		return nil, false, failed
	}
	failed.RetryAfter = retryAfter(res.Header)
	return nil, failed.RetryAfter <= maxWait, failed
}

// retryAfter returns how long an answer asks to wait, in seconds or until a date, or 0.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(clock.Until(at), 0)
	}
	return 0
}

// check verifies that an answer has the number of vectors and components that the request asked
// for.
func (c *Config) check(vectors [][]float32, texts, dim int) error {
	if len(vectors) != texts {
		return c.fault("it answered with %d vectors for %d texts"+otherAPI, len(vectors), texts)
	}
	for _, v := range vectors {
		if len(v) != dim {
			failed := c.fault("it answered with a vector of %d components, expected %d; choose a model that returns vectors of this length", len(v), dim)
			failed.Settings = true
			return failed
		}
		for _, x := range v {
			if math.IsInf(float64(x), 0) || math.IsNaN(float64(x)) {
				return c.fault("it answered with a component that is not a finite number; choose another model")
			}
		}
	}
	return nil
}

// fault returns an error that names the provider and its model.
func (c *Config) fault(format string, args ...any) *engine.Unavailable {
	return &engine.Unavailable{Reason: fmt.Sprintf("the embedding provider %s, model %s: ", c.BaseURL, c.Model) + fmt.Sprintf(format, args...)}
}

// quote shortens the text of a refusal and puts it on one line.
func quote(body []byte) string {
	s := strings.Join(strings.Fields(string(body)), " ")
	if len(s) > maxQuoted {
		s = strings.ToValidUTF8(s[:maxQuoted], "") + "…"
	}
	return s
}
