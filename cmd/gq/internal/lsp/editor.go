package lsp

import (
	"context"
	"time"
)

// editorTick is the time between two looks at the process of the editor.
const editorTick = time.Second

// watchEditor closes the channel `orphaned` when the process has ended that initialize named. The input of
// the server may stay open then, because a child of the editor may hold it.
func (s *server) watchEditor(ctx context.Context, orphaned chan<- struct{}) {
	var pid int
	select {
	case pid = <-s.editor:
	case <-ctx.Done():
		return
	}
	tick := time.NewTicker(editorTick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if !runs(pid) {
			close(orphaned)
			return
		}
	}
}
