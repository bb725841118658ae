//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// terminal runs a shell and types commands into it, line by line. Its commands run in their own
// process group, as they do in a real terminal.
type terminal struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when the shell has ended

	mu   sync.Mutex
	out  bytes.Buffer
	more chan struct{} // receives an item when `out` has grown
}

// endMark is printed, followed by the exit status, when a typed command has ended.
const endMark = "\n=== the command ended with "

func openTerminal(t *testing.T, dir string) *terminal {
	t.Helper()
	c := &terminal{t: t, cmd: exec.Command("sh"), ended: make(chan struct{}), more: make(chan struct{}, 1)}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, c, c
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.WaitDelay = 10 * time.Second
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = c.stdin.Close()
		select {
		case <-c.ended:
		case <-time.After(time.Second):
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
			<-c.ended
		}
	})
	return c
}

// Write stores the output of the shell.
func (c *terminal) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case c.more <- struct{}{}:
	default:
	}
	return c.out.Write(p)
}

// run types a command, waits until it ends, and returns its output. The command must succeed.
func (c *terminal) run(command string, limit time.Duration) string {
	c.t.Helper()
	out, status := c.until(command, endMark, limit)
	if status != "0" {
		c.t.Fatalf("%s: exit status %s\n%s", command, status, out)
	}
	return out
}

// start types a command that keeps running, and waits until the command has printed the text
// `sign`.
func (c *terminal) start(command, sign string, limit time.Duration) {
	c.t.Helper()
	c.until(command, sign, limit)
}

// until types a command and waits until the text `sign` appears in the output. It returns the
// output before this text, and the rest of the line after it.
func (c *terminal) until(command, sign string, limit time.Duration) (before, rest string) {
	c.t.Helper()
	c.mu.Lock()
	c.out.Reset()
	c.mu.Unlock()
	if _, err := fmt.Fprintf(c.stdin, "%s\nprintf '%s%%s\\n' $?\n", command, strings.ReplaceAll(endMark, "\n", `\n`)); err != nil {
		c.t.Fatal(err)
	}
	return c.wait(command, sign, limit)
}

func (c *terminal) wait(command, sign string, limit time.Duration) (before, rest string) {
	c.t.Helper()
	late := time.After(limit)
	for {
		c.mu.Lock()
		out := c.out.String()
		c.mu.Unlock()
		before, after, found := strings.Cut(out, sign)
		if rest, _, whole := strings.Cut(after, "\n"); found && whole {
			return before, rest
		}
		select {
		case <-c.more:
		case <-c.ended:
			c.t.Fatalf("%s: the shell ended\n%s", command, out)
		case <-late:
			c.t.Fatalf("%s: not done after %v\n%s", command, limit, out)
		}
	}
}

// interrupt sends SIGINT as Ctrl-C does, and waits until the running command has ended.
func (c *terminal) interrupt(limit time.Duration) {
	c.t.Helper()
	if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGINT); err != nil {
		c.t.Fatal(err)
	}
	select {
	case <-c.ended: // a shell without a terminal ends together with its command
	case <-time.After(limit):
		c.t.Fatalf("the command did not end within %v after the interrupt", limit)
	}
}
