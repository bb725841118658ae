package servedgraph

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// TestHeadWatch lets many callers wait for one branch. They must share the looks at its head, and all of
// them must notice a commit, a fault, and the end of their own contexts.
func TestHeadWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		head, fault, looks := "a", error(nil), 0
		w := headWatch{latest: func(tool.Branch) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			looks++
			return head, fault
		}}
		set := func(to string, err error) (since int) {
			mu.Lock()
			defer mu.Unlock()
			since = looks
			head, fault, looks = to, err, 0
			return since
		}
		const callers = 50
		wait := func(ctx context.Context, seen string) chan error {
			out := make(chan error, callers)
			for range callers {
				go func() { out <- w.await(ctx, tool.Branch{}, seen) }()
			}
			synctest.Wait()
			return out
		}
		expect := func(from chan error, want error) {
			t.Helper()
			for range callers {
				if err := <-from; !errors.Is(err, want) {
					t.Fatalf("a caller got %v, want %v", err, want)
				}
			}
			synctest.Wait()
			if len(w.branches) > 0 {
				t.Fatal("a branch is still watched")
			}
		}
		news := wait(t.Context(), "a")
		time.Sleep(10*time.Second + headInterval/2)
		// One look of each caller, and those of the shared watch.
		if n, most := set("b", nil), callers+int(10*time.Second/headInterval)+1; n > most {
			t.Errorf("%d looks at the head within 10 seconds, want at most %d", n, most)
		}
		began := clock.Now()
		expect(news, nil)
		if took := clock.Now().Sub(began); took > headInterval {
			t.Errorf("the commit was noticed after %v", took)
		}

		expect(wait(t.Context(), "a"), nil) // the branch has moved already

		ctx, cancel := context.WithCancel(t.Context())
		ended := wait(ctx, "b")
		cancel()
		expect(ended, context.Canceled)

		broken := errors.New("broken")
		failed := wait(t.Context(), "b")
		set("", broken)
		expect(failed, broken)
		set("c", nil)
		expect(wait(t.Context(), "b"), nil) // the watch works again after a fault
	})
}
