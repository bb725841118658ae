CREATE TABLE users (id bigint PRIMARY KEY, email text NOT NULL UNIQUE, name text NOT NULL, joined_at timestamptz NOT NULL);
CREATE TABLE posts (id bigint PRIMARY KEY, author_id bigint NOT NULL REFERENCES users, body text NOT NULL, created_at timestamptz NOT NULL);
CREATE TABLE follows (follower_id bigint REFERENCES users, followee_id bigint REFERENCES users, since date NOT NULL, PRIMARY KEY (follower_id, followee_id));
CREATE TABLE likes (user_id bigint REFERENCES users, post_id bigint REFERENCES posts, PRIMARY KEY (user_id, post_id));
-- data
CREATE TABLE profiles (handle text NOT NULL UNIQUE, user_email text NOT NULL UNIQUE REFERENCES users (email), picture bytea);
INSERT INTO profiles SELECT 'u' || id, email, decode('00ff', 'hex') FROM users WHERE id <= 10 ORDER BY id;
