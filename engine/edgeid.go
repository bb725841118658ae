package engine

import (
	"crypto/sha256"
	"encoding/base32"
	"strconv"
)

// DerivedEdgeID returns the id that a load or an upsert gives a new edge that is identified by its ends: 26 characters of base32
// (RFC 4648) in lower case. Each end is the id of the node or, if nodes of several types may be there, the
// name of the node's type, a slash and the id. The members are the values, as in ids, of the other properties of the
// unique constraint, in the order of their declaration.
//
// The first ten characters are from the SHA-256 of the type and the source, and the other sixteen from that of the
// type, both ends and the members. Before it is hashed, each text gets its length in bytes and a colon in front. So edges
// of one node have neighbouring ids, and two branches that load the same file agree.
func DerivedEdgeID(typ, from, to string, members ...string) string {
	text := make([]byte, 0, 256)
	add := func(s string) {
		text = append(append(strconv.AppendInt(text, int64(len(s)), 10), ':'), s...)
	}
	add(typ)
	add(from)
	source := sha256.Sum256(text)
	add(to)
	for _, m := range members {
		add(m)
	}
	edge := sha256.Sum256(text)
	var id [32]byte
	derivedID.Encode(id[:16], source[:10])
	derivedID.Encode(id[10:], edge[:10])
	return string(id[:26])
}

// derivedID is the alphabet of derived ids.
var derivedID = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)
