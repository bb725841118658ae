package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/strictyaml"
)

// Where tokens are found at start.
const (
	// TokensFileVar names the variable that holds the path of the tokens file.
	TokensFileVar = "OMNIGRAPH_TOKENS_FILE"

	// TokenVarPrefix starts the variables that each hold one raw token. The rest of
	// the name is the actor: in lower case, with - for _, so that
	// OMNIGRAPH_TOKEN_ACT_ADA is act-ada's.
	TokenVarPrefix = "OMNIGRAPH_TOKEN_"
)

// maxToken bounds a static token's length in bytes, so that hashing one costs little.
const maxToken = 4096

// Tokens are the static bearer tokens of a server. Only their SHA-256 digests are
// kept. It is filled before the server starts, and safe for concurrent use from then.
type Tokens struct {
	entries []entry
}

type entry struct {
	digest [sha256.Size]byte
	actor  *service.Actor
}

// Load gathers the tokens that an environment, as os.Environ gives it, names: those
// of the file at OMNIGRAPH_TOKENS_FILE and those of the OMNIGRAPH_TOKEN_<ACTOR>
// variables. Neither there is no error.
func Load(environ []string) (*Tokens, error) {
	t := &Tokens{}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if name == TokensFileVar && value != "" {
			if err := t.ReadFile(value); err != nil {
				return nil, fmt.Errorf("%s: %w", TokensFileVar, err)
			}
		}
		suffix, is := strings.CutPrefix(name, TokenVarPrefix)
		if !is {
			continue
		}
		actor := strings.ReplaceAll(strings.ToLower(suffix), "_", "-")
		if err := t.Add(value, actor); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return t, nil
}

// Add makes a raw token an actor's. An actor may have several tokens; a token has one
// actor. The error does not repeat the token.
func (t *Tokens) Add(token, actor string) error {
	if err := checkToken(token); err != nil {
		return err
	}
	return t.add(sha256.Sum256([]byte(token)), actor)
}

// ReadFile adds the tokens of a YAML file that maps the SHA-256 of each token, as 64
// hex digits, to its actor. The error is that of reading the file, or a diag.List
// that names places and never repeats what stands there.
func (t *Tokens) ReadFile(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return t.parse(path, src)
}

// Len is the number of tokens.
func (t *Tokens) Len() int { return len(t.entries) }

// Names reports whether some token is the actor's.
func (t *Tokens) Names(actor string) bool {
	return slices.ContainsFunc(t.entries, func(e entry) bool { return e.actor.ID == actor })
}

// Verify implements Verifier. Every entry is compared, so that the time it takes
// tells nothing of which one matched.
func (t *Tokens) Verify(_ context.Context, token string) (*service.Actor, error) {
	if len(token) > maxToken {
		return nil, nil
	}
	digest := sha256.Sum256([]byte(token))
	var actor *service.Actor
	for i := range t.entries {
		if subtle.ConstantTimeCompare(digest[:], t.entries[i].digest[:]) == 1 {
			actor = t.entries[i].actor
		}
	}
	return actor, nil
}

func (t *Tokens) parse(path string, src []byte) error {
	r := strictyaml.ReadSecret(path, src)
	if r.Root() == nil && len(r.Faults()) == 0 {
		r.Whole(strictyaml.Missing, "the tokens file is empty", "map the sha-256 of each token to its actor")
	}
	entries, _ := r.Root().Entries("the tokens file")
	for _, e := range entries {
		var digest [sha256.Size]byte
		// A raw token in the digest's place is the likely mistake, hence no echo.
		if n, err := hex.Decode(digest[:], hexOrNothing(e.Key)); err != nil || n != sha256.Size {
			e.At.Fault(strictyaml.BadValue, "a key that is not 64 hex digits",
				"write the token's sha-256, as printf %s TOKEN | sha256sum prints it")
			continue
		}
		actor, ok := e.Value.Text("the actor")
		if !ok {
			continue
		}
		if err := t.add(digest, actor); err != nil {
			e.Value.Fault(strictyaml.BadValue, err.Error(), "")
		}
	}
	return r.Faults().Err()
}

func (t *Tokens) add(digest [sha256.Size]byte, actor string) error {
	if err := checkActor(actor); err != nil {
		return err
	}
	for _, e := range t.entries {
		if e.digest != digest {
			continue
		}
		if e.actor.ID != actor {
			return fmt.Errorf("this token is another actor's already; a token has one actor")
		}
		return nil
	}
	t.entries = append(t.entries, entry{digest, &service.Actor{ID: actor, Source: "token"}})
	return nil
}

// hexOrNothing keeps hex.Decode within the digest's size.
func hexOrNothing(s string) []byte {
	if len(s) != hex.EncodedLen(sha256.Size) {
		return nil
	}
	return []byte(s)
}

// checkToken takes what can stand after "Bearer " (RFC 6750, section 2.1: b64token),
// since any other token could never be presented.
func checkToken(token string) error {
	switch {
	case token == "":
		return fmt.Errorf("the token is empty; set one, such as openssl rand -hex 32 prints")
	case len(token) > maxToken:
		return fmt.Errorf("the token has %d bytes, wanted at most %d", len(token), maxToken)
	case !isB64Token(token):
		return fmt.Errorf("the token holds a character that a header cannot carry; wanted letters, digits and -._~+/, then = signs")
	}
	return nil
}

func isB64Token(s string) bool {
	body := strings.TrimRight(s, "=")
	for _, c := range []byte(body) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~+/", c) >= 0) {
			return false
		}
	}
	return body != ""
}

// checkActor keeps actors to names that logs, policies and commits show as they are.
// The error does not repeat the name: a digest or token may stand there by mistake.
func checkActor(actor string) error {
	if actor == "" || len(actor) > 128 {
		return fmt.Errorf("the actor's name has %d bytes, wanted 1 to 128", len(actor))
	}
	for _, c := range []byte(actor) {
		if c <= ' ' || c >= 0x7f {
			return fmt.Errorf("the actor's name holds a blank or a character outside ascii; wanted a name such as act-ada")
		}
	}
	return nil
}
