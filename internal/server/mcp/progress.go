package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// progressEvery is the time between two notifications of progress.
var progressEvery = time.Second

// maxProgressToken bounds a token in bytes, because each notification repeats it.
const maxProgressToken = 1 << 10

// progressToken returns the token of a call that asks for progress, a string or a number as JSON, or nil.
func progressToken(m *message) json.RawMessage {
	if !m.isCall() || m.response || !bytes.Contains(m.meta, []byte("progressToken")) {
		return nil
	}
	var meta struct {
		Token json.RawMessage `json:"progressToken"`
	}
	if json.Unmarshal(m.meta, &meta) != nil || len(meta.Token) == 0 || len(meta.Token) > maxProgressToken {
		return nil
	}
	switch jsontext.Value(meta.Token).Kind() {
	case '"', '0':
		return meta.Token
	}
	return nil
}

// progress answers a call as a stream: notifications that say how long the call has been running, and the answer. The stream begins with
// the first notification, so that a call that fails before has the status of its fault, and a challenge. The server does not know how
// much work remains, so a notification has no total.
func (h *handler) progress(ctx context.Context, w http.ResponseWriter, version string, msgs []message, token json.RawMessage) {
	s := &eventStream{w: w, control: http.NewResponseController(w)}
	defer func() { _ = s.control.SetWriteDeadline(time.Time{}) }() // the next request on the connection has its own
	told := 0
	tell := func(text string) error {
		told++
		return s.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":%q}}`, token, told, text))
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for passed := progressEvery; ; passed += progressEvery {
			select {
			case <-done:
				return
			case <-tick.C:
				if tell("running for "+passed.String()) != nil {
					return // the client is gone, which ends the call's context
				}
			}
		}
	}()
	status, challenge, answer := func() (int, string, []byte) {
		defer func() {
			close(done)
			<-ended
		}()
		return h.surface.answer(ctx, version, msgs, false)
	}()
	if !s.started && status != http.StatusOK {
		if challenge != "" {
			w.Header().Set("WWW-Authenticate", challenge)
		}
		write(w, status, answer)
		return
	}
	line := jsontext.Value(answer)
	if bytes.IndexByte(answer, '\n') >= 0 {
		_ = line.Compact() // an event has one line; the answer is valid JSON
	}
	if tell("done") == nil {
		_ = s.send(line)
	}
}
