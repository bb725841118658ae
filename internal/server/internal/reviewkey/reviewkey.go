// Package reviewkey lets a person decide about proposals over a connection that an agent uses too. The person makes a key with a login of
// its own and types it where it reviews, so that the agent does not have it. A decision is signed with the secret of the key:
//
//	rk_ID_SECRET                                                     a key; the server and the person know it
//	HMAC-SHA256(SECRET, proposal ⏎ digest ⏎ decision ⏎ nonce ⏎ hex(SHA256(comment)))    a signature, in hexadecimal
//
// A nonce is good for one decision. The keys are in the memory of the server that writes the graph. They end with it, and when another server
// has written the graph: so the keys that an actor revoked at that one are nowhere else.
package reviewkey

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	// Lasts is how long a key is good.
	Lasts = 12 * time.Hour
	// nonceLasts is how long a person may take from a nonce to the decision.
	nonceLasts = 10 * time.Minute
	// maxKeys bounds the keys of an actor, and maxNonces the nonces of a key that one caller asked for: the oldest goes when there is a new one.
	maxKeys, maxNonces = 4, 16
	// maxAll bounds the nonces of a key.
	maxAll = 512
	// maxText bounds the length of the id of a proposal that a nonce keeps, in bytes.
	maxText = 64
	// maxActors bounds the number of actors with keys.
	maxActors = 10_000
)

// Store has the keys of one graph. It is safe for concurrent use.
type Store struct {
	now    func() time.Time
	tenure func() uint64

	mu   sync.Mutex
	of   uint64            // the tenure in which the keys were made; guarded by mu
	keys map[string][]*key // by the name of the actor, with its tenant; guarded by mu
	byID map[string]*key   // guarded by mu
}

// key is a key of an actor.
type key struct {
	id, owner string
	secret    string
	actor     *access.Actor
	expires   time.Time
	nonces    []nonce // the oldest first
}

// nonce is a number for one decision about a proposal.
type nonce struct {
	text, proposal string
	asker          [sha256.Size]byte // the digest of its name
	expires        time.Time
}

// New returns a store without keys. The clock may be nil. The number that tenure returns changes when this server begins to write the graph
// after another server may have written it; tenure is nil if no other server can.
func New(now func() time.Time, tenure func() uint64) *Store {
	if now == nil {
		now = clock.Now
	}
	if tenure == nil {
		tenure = func() uint64 { return 0 }
	}
	return &Store{now: now, tenure: tenure, of: tenure(), keys: map[string][]*key{}, byID: map[string]*key{}}
}

// lock locks the store, and removes the keys of an earlier tenure.
func (s *Store) lock() {
	s.mu.Lock()
	if t := s.tenure(); t != s.of {
		s.of = t
		clear(s.keys)
		clear(s.byID)
	}
}

// ownerOf returns the owner of the keys of an actor, who acts without an agent: an agent neither gets nor revokes the keys of the actor for
// whom it acts.
func ownerOf(a *access.Actor) (string, error) {
	if a == nil || a.ID == "" || len(a.Agents) > 0 {
		return "", &wireerror.Forbidden{Action: tool.ProposalReview}
	}
	return a.Tenant + "\x00" + a.ID, nil
}

// Make makes a key of an actor, who acts without an agent.
func (s *Store) Make(a *access.Actor) (text string, expires time.Time, err error) {
	owner, err := ownerOf(a)
	if err != nil {
		return "", time.Time{}, err
	}
	s.lock()
	defer s.mu.Unlock()
	s.forgetLocked()
	if len(s.keys) >= maxActors && s.keys[owner] == nil {
		return "", time.Time{}, &wireerror.Forbidden{Action: tool.ProposalReview}
	}
	k := &key{id: rand.Text(), owner: owner, secret: rand.Text(), actor: a, expires: s.now().Add(Lasts)}
	s.keys[owner], s.byID[k.id] = append(s.keys[owner], k), k
	if n := len(s.keys[owner]) - maxKeys; n > 0 {
		for _, old := range s.keys[owner][:n] {
			delete(s.byID, old.id)
		}
		s.keys[owner] = slices.Delete(s.keys[owner], 0, n)
	}
	return "rk_" + k.id + "_" + k.secret, k.expires, nil
}

// Revoke ends the keys of an actor, who acts without an agent, and returns their number.
func (s *Store) Revoke(a *access.Actor) (int, error) {
	owner, err := ownerOf(a)
	if err != nil {
		return 0, err
	}
	s.lock()
	defer s.mu.Unlock()
	s.forgetLocked()
	list := s.keys[owner]
	for _, k := range list {
		delete(s.byID, k.id)
	}
	delete(s.keys, owner)
	return len(list), nil
}

// forgetLocked removes the keys that have expired.
func (s *Store) forgetLocked() {
	now := s.now()
	for owner, list := range s.keys {
		list = slices.DeleteFunc(list, func(k *key) bool {
			if now.Before(k.expires) {
				return false
			}
			delete(s.byID, k.id)
			return true
		})
		if s.keys[owner] = list; len(list) == 0 {
			delete(s.keys, owner)
		}
	}
}

// errRefused is the error of a decision without a valid signature. It does not say what is wrong, so that it helps no one to guess.
var errRefused = &tool.ArgumentError{Path: "signature", Detail: "no valid review key signed this decision", Help: "make a review key with your own login, type it into the review, and decide there"}

// Nonce returns a nonce for a decision about a proposal, which the key with an id will sign. The asker is the name of the caller: no caller
// takes the nonces of another one away.
func (s *Store) Nonce(id, proposal, asker string) (string, error) {
	if len(proposal) > maxText {
		return "", errRefused
	}
	s.lock()
	defer s.mu.Unlock()
	k, now := s.byID[id], s.now()
	if k == nil || !now.Before(k.expires) {
		return "", errRefused
	}
	k.nonces = slices.DeleteFunc(k.nonces, func(n nonce) bool { return !now.Before(n.expires) })
	by := sha256.Sum256([]byte(asker))
	own, first := 0, 0
	for i := len(k.nonces) - 1; i >= 0; i-- {
		if k.nonces[i].asker == by {
			own, first = own+1, i
		}
	}
	switch {
	case own >= maxNonces:
		k.nonces = slices.Delete(k.nonces, first, first+1)
	case len(k.nonces) >= maxAll:
		return "", errRefused
	}
	n := nonce{rand.Text(), proposal, by, now.Add(nonceLasts)}
	k.nonces = append(k.nonces, n)
	return n.text, nil
}

// Decision is what a signature is about.
type Decision struct {
	Proposal, Digest, Decision, Comment string
}

// Sign returns the signature of a decision with the secret of a key.
func (d *Decision) Sign(secret, nonce string) string {
	comment := sha256.Sum256([]byte(d.Comment))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join([]string{d.Proposal, d.Digest, d.Decision, nonce, hex.EncodeToString(comment[:])}, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}

// Check returns the actor whose key signed a decision. The nonce is used up if the signature is good.
func (s *Store) Check(id, text, signature string, d *Decision) (*access.Actor, error) {
	s.lock()
	defer s.mu.Unlock()
	k := s.byID[id]
	now := s.now()
	if k == nil || !now.Before(k.expires) {
		return nil, errRefused
	}
	i := slices.IndexFunc(k.nonces, func(n nonce) bool { return n.text == text && n.proposal == d.Proposal && now.Before(n.expires) })
	if i < 0 || !hmac.Equal([]byte(d.Sign(k.secret, text)), []byte(signature)) {
		return nil, errRefused
	}
	k.nonces = slices.Delete(k.nonces, i, i+1)
	return k.actor, nil
}
