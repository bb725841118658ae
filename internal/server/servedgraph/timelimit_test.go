package servedgraph

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

func TestTimeLimit(t *testing.T) {
	limit := errors.New("the limit")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name   string
		parent func(context.Context) (context.Context, context.CancelFunc)
		limit  time.Duration
		end    bool  // cancel the context
		err    error // nil if the context does not end
		cause  error
	}{
		{name: "far", limit: time.Minute},
		{name: "over", limit: time.Millisecond, err: context.DeadlineExceeded, cause: limit},
		{name: "canceled", limit: time.Minute, end: true, err: context.Canceled, cause: context.Canceled},
		{name: "parent canceled", limit: time.Minute, err: context.Canceled, cause: context.Canceled,
			parent: func(context.Context) (context.Context, context.CancelFunc) { return canceled, func() {} }},
		{name: "parent over", limit: time.Minute, err: context.DeadlineExceeded, cause: context.DeadlineExceeded,
			parent: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Millisecond)
			}},
		{name: "over before the parent", limit: time.Millisecond, err: context.DeadlineExceeded, cause: limit,
			parent: func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, time.Minute)
			}},
	} {
		for _, way := range []string{"Err", "Done", "child"} {
			t.Run(tt.name+"/"+way, func(t *testing.T) {
				parent, stop := t.Context(), context.CancelFunc(func() {})
				if tt.parent != nil {
					parent, stop = tt.parent(parent)
				}
				defer stop()
				c := limited(parent, tt.limit, limit)
				defer c.cancel()
				if tt.end {
					c.cancel()
				}
				ctx := context.Context(c)
				switch {
				case way == "child":
					child, stop := context.WithCancel(c)
					defer stop()
					ctx = child
					fallthrough
				case way == "Done" && tt.err != nil:
					if tt.err != nil {
						<-ctx.Done()
					}
				case tt.err != nil:
					time.Sleep(5 * time.Millisecond)
				}
				if err, cause := ctx.Err(), context.Cause(ctx); err != tt.err || cause != tt.cause {
					t.Errorf("the error is %v because of %v, want %v because of %v", err, cause, tt.err, tt.cause)
				}
				if way == "Err" && tt.err == nil && c.timed.Load() != nil {
					t.Error("Err made a timer")
				}
			})
		}
	}
}

// TestTimeLimitShared ends a context that several goroutines wait for.
func TestTimeLimitShared(t *testing.T) {
	c := limited(t.Context(), time.Minute, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			<-c.Done()
			if c.Err() != context.Canceled {
				t.Errorf("%v", c.Err())
			}
		})
	}
	time.Sleep(time.Millisecond)
	c.cancel()
	wg.Wait()
}
