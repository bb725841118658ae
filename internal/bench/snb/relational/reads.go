package relational

// Each read begins with the persons that it looks at: the friends of $1, or also their friends.
const (
	friends = `f (id) AS MATERIALIZED (SELECT b FROM knows WHERE a = $1)`
	circle  = friends + `, c (id) AS MATERIALIZED (SELECT id FROM f UNION SELECT k.b FROM f JOIN knows k ON k.a = f.id WHERE k.b <> $1)`
)

// Reads are the statements of the reads, by the names of the stored queries. The parameters are those
// of the stored query, with times in milliseconds. The columns are those of the published result, with
// the members of a list joined by semicolons and the fields of a record by vertical bars.
var Reads = map[string]string{
	"ic1": `WITH ` + circle + `, r (id, distance) AS (
		SELECT id, min(distance) FROM (SELECT id, 1 AS distance FROM f UNION ALL SELECT id, 2 FROM c UNION ALL SELECT k.b, 3 FROM c JOIN knows k ON k.a = c.id) s
		WHERE id <> $1 GROUP BY id)
	SELECT p.id, p.last_name, r.distance, p.birthday - DATE '1970-01-01', p.created, p.gender, p.browser, p.ip,
		coalesce((SELECT string_agg(address, ';' ORDER BY address) FROM email e WHERE e.person = p.id), ''),
		coalesce((SELECT string_agg(language, ';' ORDER BY language) FROM speaks l WHERE l.person = p.id), ''),
		city.name,
		coalesce((SELECT string_agg(o.name || '|' || s.year || '|' || w.name, ';' ORDER BY o.name || '|' || s.year || '|' || w.name)
			FROM study s JOIN organisation o ON o.id = s.university JOIN place w ON w.id = o.place WHERE s.person = p.id), ''),
		coalesce((SELECT string_agg(o.name || '|' || j.year || '|' || w.name, ';' ORDER BY o.name || '|' || j.year || '|' || w.name)
			FROM job j JOIN organisation o ON o.id = j.company JOIN place w ON w.id = o.place WHERE j.person = p.id), '')
	FROM r JOIN person p ON p.id = r.id JOIN place city ON city.id = p.city
	WHERE p.first_name = $2 ORDER BY r.distance, p.last_name, p.id LIMIT 20`,

	"ic2": `WITH ` + friends + `
	SELECT p.id, p.first_name, p.last_name, m.id, m.content, m.created
	FROM f JOIN person p ON p.id = f.id JOIN message m ON m.creator = f.id
	WHERE m.created <= $2 ORDER BY m.created DESC, m.id LIMIT 20`,

	"ic3": `WITH ` + circle + `, n (id, x, y) AS (
		SELECT m.creator, count(*) FILTER (WHERE w.name = $2), count(*) FILTER (WHERE w.name = $3)
		FROM c JOIN message m ON m.creator = c.id JOIN place w ON w.id = m.country
		WHERE m.created >= $4 AND m.created < $4 + $5 * 86400000::bigint AND w.name IN ($2, $3) GROUP BY m.creator)
	SELECT p.id, p.first_name, p.last_name, n.x, n.y, n.x + n.y
	FROM n JOIN person p ON p.id = n.id JOIN place city ON city.id = p.city JOIN place home ON home.id = city.part_of
	WHERE n.x > 0 AND n.y > 0 AND home.name NOT IN ($2, $3) ORDER BY n.x + n.y DESC, p.id LIMIT 20`,

	"ic4": `WITH ` + friends + `
	SELECT t.name, count(*)
	FROM f JOIN message m ON m.creator = f.id JOIN message_tag mt ON mt.message = m.id JOIN tag t ON t.id = mt.tag
	WHERE m.post AND m.created < $2 + $3 * 86400000::bigint
	GROUP BY t.id, t.name HAVING min(m.created) >= $2 ORDER BY count(*) DESC, t.name LIMIT 10`,

	"ic5": `WITH ` + circle + `, j (forum, person) AS (SELECT m.forum, m.person FROM c JOIN member m ON m.person = c.id WHERE m.joined > $2)
	SELECT forum.title, count(m.id), forum.id
	FROM j JOIN forum ON forum.id = j.forum LEFT JOIN message m ON m.forum = j.forum AND m.creator = j.person
	GROUP BY forum.id, forum.title ORDER BY count(m.id) DESC, forum.id LIMIT 20`,

	"ic6": `WITH ` + circle + `
	SELECT t.name, count(*)
	FROM tag w JOIN message_tag wm ON wm.tag = w.id JOIN message m ON m.id = wm.message JOIN c ON c.id = m.creator
		JOIN message_tag mt ON mt.message = m.id JOIN tag t ON t.id = mt.tag
	WHERE w.name = $2 AND m.post AND t.id <> w.id GROUP BY t.name ORDER BY count(*) DESC, t.name LIMIT 10`,

	"ic7": `SELECT p.id, p.first_name, p.last_name, l.liked, l.message, l.content, floor((l.liked - l.created) / 60000.0)::bigint,
		NOT EXISTS (SELECT 1 FROM knows k WHERE k.a = $1 AND k.b = p.id)
	FROM (SELECT DISTINCT ON (k.person) k.person, k.created AS liked, m.id AS message, m.content, m.created
		FROM message m JOIN likes k ON k.message = m.id WHERE m.creator = $1 ORDER BY k.person, k.created DESC, m.id) l
	JOIN person p ON p.id = l.person ORDER BY l.liked DESC, p.id LIMIT 20`,

	"ic8": `SELECT p.id, p.first_name, p.last_name, c.created, c.id, c.content
	FROM message m JOIN message c ON c.reply_of = m.id JOIN person p ON p.id = c.creator
	WHERE m.creator = $1 ORDER BY c.created DESC, c.id LIMIT 20`,

	"ic9": `WITH ` + circle + `
	SELECT p.id, p.first_name, p.last_name, m.id, m.content, m.created
	FROM c JOIN person p ON p.id = c.id JOIN message m ON m.creator = c.id
	WHERE m.created < $2 ORDER BY m.created DESC, m.id LIMIT 20`,

	"ic10": `WITH ` + circle + `, q (id, first_name, last_name, gender, city) AS MATERIALIZED (
		SELECT p.id, p.first_name, p.last_name, p.gender, city.name
		FROM c JOIN person p ON p.id = c.id JOIN place city ON city.id = p.city
		WHERE p.id NOT IN (SELECT id FROM f)
			AND (extract(month FROM p.birthday) = $2 AND extract(day FROM p.birthday) >= 21
				OR extract(month FROM p.birthday) = $2 % 12 + 1 AND extract(day FROM p.birthday) < 22)),
		common (id) AS (SELECT DISTINCT m.id FROM q JOIN message m ON m.creator = q.id JOIN message_tag t ON t.message = m.id
			JOIN interest i ON i.tag = t.tag AND i.person = $1 WHERE m.post)
	SELECT q.id, q.first_name, q.last_name, sum(CASE WHEN m.id IS NULL THEN 0 WHEN common.id IS NULL THEN -1 ELSE 1 END)::bigint AS score, q.gender, q.city
	FROM q LEFT JOIN message m ON m.creator = q.id AND m.post LEFT JOIN common ON common.id = m.id
	GROUP BY q.id, q.first_name, q.last_name, q.gender, q.city ORDER BY score DESC, q.id LIMIT 10`,

	"ic11": `WITH ` + circle + `
	SELECT p.id, p.first_name, p.last_name, o.name, j.year
	FROM c JOIN person p ON p.id = c.id JOIN job j ON j.person = c.id JOIN organisation o ON o.id = j.company JOIN place w ON w.id = o.place
	WHERE w.name = $2 AND j.year < $3 ORDER BY j.year, p.id, o.name DESC LIMIT 10`,

	"ic12": `WITH RECURSIVE ` + friends + `, k (id) AS (SELECT id FROM tag_class WHERE name = $2 UNION SELECT t.id FROM k JOIN tag_class t ON t.parent = k.id)
	SELECT p.id, p.first_name, p.last_name, string_agg(DISTINCT t.name, ';' ORDER BY t.name), count(DISTINCT r.id)
	FROM f JOIN person p ON p.id = f.id JOIN message r ON r.creator = f.id JOIN message m ON m.id = r.reply_of
		JOIN message_tag mt ON mt.message = m.id JOIN tag t ON t.id = mt.tag
	WHERE m.post AND t.class IN (SELECT id FROM k)
	GROUP BY p.id, p.first_name, p.last_name ORDER BY count(DISTINCT r.id) DESC, p.id LIMIT 20`,

	// A level contains the persons at the ends of all walks of its length. The search ends with the
	// level that has the wanted person. The walks of the stored query also have at most 64 steps.
	"ic13": `WITH RECURSIVE s (id, hops, found) AS (
		SELECT $1::bigint, 0, $1::bigint = $2::bigint WHERE $1::bigint = $2::bigint OR EXISTS (SELECT 1 FROM knows WHERE a = $2)
		UNION
		SELECT k.b, s.hops + 1, bool_or(k.b = $2) OVER () FROM s JOIN knows k ON k.a = s.id WHERE NOT s.found AND s.hops < 64)
	SELECT coalesce((SELECT min(hops) FROM s WHERE found), -1)`,

	"is1": `SELECT first_name, last_name, birthday - DATE '1970-01-01', ip, browser, city, gender, created FROM person WHERE id = $1`,

	"is2": `WITH RECURSIVE l (id, content, created, reply_of) AS MATERIALIZED (
			SELECT id, content, created, reply_of FROM message WHERE creator = $1 ORDER BY created DESC, id DESC LIMIT 10),
		t (message, id, above) AS (SELECT id, id, reply_of FROM l UNION ALL SELECT t.message, m.id, m.reply_of FROM t JOIN message m ON m.id = t.above)
	SELECT l.id, l.content, l.created, post.id || '|' || p.id || '|' || p.first_name || '|' || p.last_name
	FROM l JOIN t ON t.message = l.id AND t.above IS NULL JOIN message post ON post.id = t.id JOIN person p ON p.id = post.creator
	ORDER BY l.created DESC, l.id DESC`,

	"is3": `SELECT p.id, p.first_name, p.last_name, k.created FROM knows k JOIN person p ON p.id = k.b WHERE k.a = $1 ORDER BY k.created DESC, p.id`,

	"is4": `SELECT created, content FROM message WHERE id = $1`,

	"is5": `SELECT p.id, p.first_name, p.last_name FROM message m JOIN person p ON p.id = m.creator WHERE m.id = $1`,

	"is6": `WITH RECURSIVE t (forum, above) AS (
		SELECT forum, reply_of FROM message WHERE id = $1 UNION ALL SELECT m.forum, m.reply_of FROM t JOIN message m ON m.id = t.above)
	SELECT f.id, f.title, p.id, p.first_name, p.last_name FROM t JOIN forum f ON f.id = t.forum JOIN person p ON p.id = f.moderator`,

	"is7": `SELECT c.id, c.content, c.created, p.id, p.first_name, p.last_name, EXISTS (SELECT 1 FROM knows k WHERE k.a = p.id AND k.b = m.creator)
	FROM message m JOIN message c ON c.reply_of = m.id JOIN person p ON p.id = c.creator
	WHERE m.id = $1 ORDER BY c.created DESC, p.id, c.id`,

	"lsqb1": `SELECT count(*) FROM place country JOIN place city ON city.part_of = country.id AND city.kind = 'city' JOIN person p ON p.city = city.id
		JOIN member f ON f.person = p.id JOIN message m ON m.forum = f.forum JOIN message c ON c.reply_of = m.id
		JOIN message_tag mt ON mt.message = c.id JOIN tag t ON t.id = mt.tag JOIN tag_class k ON k.id = t.class
	WHERE country.kind = 'country'`,

	"lsqb2": `SELECT count(*) FROM knows k JOIN message c ON c.creator = k.a JOIN message m ON m.id = c.reply_of AND m.creator = k.b WHERE m.post`,

	"lsqb3": `SELECT count(*) FROM place country
		JOIN place x ON x.part_of = country.id JOIN place y ON y.part_of = country.id JOIN place z ON z.part_of = country.id
		JOIN person a ON a.city = x.id JOIN person b ON b.city = y.id JOIN person c ON c.city = z.id
		JOIN knows ab ON ab.a = a.id AND ab.b = b.id JOIN knows bc ON bc.a = b.id AND bc.b = c.id JOIN knows ca ON ca.a = c.id AND ca.b = a.id
	WHERE country.kind = 'country'`,

	"lsqb4": `SELECT count(*) FROM message_tag t JOIN message m ON m.id = t.message JOIN likes l ON l.message = m.id JOIN message c ON c.reply_of = m.id`,

	"lsqb5": `SELECT count(*) FROM message_tag a JOIN message c ON c.reply_of = a.message JOIN message_tag b ON b.message = c.id WHERE a.tag <> b.tag`,

	"lsqb6": `SELECT count(*) FROM knows x JOIN knows y ON y.a = x.b JOIN interest i ON i.person = y.b WHERE x.a <> y.b`,

	"lsqb7": `SELECT count(*) FROM message_tag t JOIN message m ON m.id = t.message
		LEFT JOIN likes l ON l.message = m.id LEFT JOIN message c ON c.reply_of = m.id`,

	"lsqb8": `SELECT count(*) FROM message_tag a JOIN message c ON c.reply_of = a.message JOIN message_tag b ON b.message = c.id
		LEFT JOIN message_tag same ON same.message = c.id AND same.tag = a.tag
	WHERE a.tag <> b.tag AND same.message IS NULL`,

	"lsqb9": `SELECT count(*) FROM knows x JOIN knows y ON y.a = x.b JOIN interest i ON i.person = y.b
		LEFT JOIN knows xy ON xy.a = x.a AND xy.b = y.b
	WHERE x.a <> y.b AND xy.a IS NULL`,
}
