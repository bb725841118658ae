package relational

// Updates are the statements of the updates for PostgreSQL, by the names of the stored queries. The
// parameters are those of the stored query, with times in milliseconds. The lists of studies and jobs
// are JSON arrays of objects with the members organisation and year.
var Updates = map[string]string{
	"iu1": `WITH p AS (INSERT INTO person (id, first_name, last_name, gender, birthday, created, ip, browser, city)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)),
		l AS (INSERT INTO speaks (person, language) SELECT $1, unnest($10::text[])),
		e AS (INSERT INTO email (person, address) SELECT $1, unnest($11::text[])),
		i AS (INSERT INTO interest (person, tag) SELECT $1, unnest($12::bigint[])),
		s AS (INSERT INTO study (person, university, year)
			SELECT $1, organisation, year FROM jsonb_to_recordset($13::jsonb) AS r (organisation bigint, year bigint))
	INSERT INTO job (person, company, year)
		SELECT $1, organisation, year FROM jsonb_to_recordset($14::jsonb) AS r (organisation bigint, year bigint)`,

	"iu2": insertLike,

	"iu3": insertLike,

	"iu4": `WITH f AS (INSERT INTO forum (id, title, created, moderator) VALUES ($1, $2, $3, $4))
	INSERT INTO forum_tag (forum, tag) SELECT $1, unnest($5::bigint[])`,

	"iu5": `INSERT INTO member (forum, person, joined) VALUES ($1, $2, $3)`,

	"iu6": `WITH m AS (INSERT INTO message (id, post, created, ip, browser, language, content, length, creator, forum, country)
			VALUES ($1, true, $3, $4, $5, $6, coalesce($7, $2, ''), $8, $9, $10, $11))
	INSERT INTO message_tag (message, tag) SELECT $1, unnest($12::bigint[])`,

	"iu7": `WITH m AS (INSERT INTO message (id, post, created, ip, browser, content, length, creator, country, reply_of)
			VALUES ($1, false, $2, $3, $4, $5, $6, $7, $8, $9))
	INSERT INTO message_tag (message, tag) SELECT $1, unnest($10::bigint[])`,

	"iu8": `INSERT INTO knows (a, b, created) VALUES ($1, $2, $3), ($2, $1, $3)`,
}

const insertLike = `INSERT INTO likes (person, message, created) VALUES ($1, $2, $3)`
