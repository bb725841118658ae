package tasks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Outside is an agent that is another program, which this one does not start. It writes each task as a line of JSON, and reads the
// last message of the program from the other direction, one line of JSON for each task.
type Outside struct {
	to   io.Writer
	from *bufio.Reader
}

// NewOutside returns an agent that gets its tasks from one stream and answers on the other.
func NewOutside(to io.Writer, from io.Reader) *Outside { return &Outside{to, bufio.NewReader(from)} }

// outsideTask is a line that the program gets.
type outsideTask struct {
	Graph   string `json:"graph"`
	Number  int    `json:"number"` // of the task about the graph; its name would tell the kind
	Try     int    `json:"try"`
	Address string `json:"address"` // of the MCP server; it is served until the program answers
	Request string `json:"request"`
}

// Do implements [Agent].
func (o *Outside) Do(ctx context.Context, w Work) (string, int, error) {
	text, err := encoded(outsideTask{w.Graph, w.Number, w.Try, w.Address, w.Request})
	if err != nil {
		return "", 0, err
	}
	if _, err := fmt.Fprintln(o.to, text); err != nil {
		return "", 0, err
	}
	type read struct {
		line string
		err  error
	}
	answered := make(chan read, 1)
	go func() { // it ends with the next line or the end of the stream, also if nobody waits any more
		l, err := o.from.ReadString('\n')
		answered <- read{l, err}
	}()
	select {
	case <-ctx.Done():
		return "", 0, Stop{errors.New("the time for the task ran out before the program answered")}
	case r := <-answered:
		if r.err != nil && strings.TrimSpace(r.line) == "" {
			return "", 0, Stop{fmt.Errorf("read the answer to the task %s: %w", w.Task.Name, r.err)}
		}
		var reply struct {
			Answer string `json:"answer"` // the last message
			Tokens int    `json:"tokens"` // 0 if they are not known
		}
		if err := decode([]byte(r.line), &reply); err != nil {
			return "", 0, fmt.Errorf(`the program answered %s, expected a line such as {"answer": "ANSWER: null", "tokens": 1200}`, brief(strings.TrimSpace(r.line)))
		}
		return reply.Answer, reply.Tokens, nil
	}
}

var _ Agent = (*Outside)(nil)

// Stop is an error of an agent after which it can do no further task.
type Stop struct{ error }

// Unwrap returns the reason.
func (s Stop) Unwrap() error { return s.error }
