-- Refuses old fences in PostgreSQL. Run it once in each database; running it again changes nothing.
--
-- Let every transaction that writes under the lock begin with
--
--     SELECT doorway_pass('accounts', 4503599627370497);
--
-- with a name for what is protected and the fence of the guard. A caller with a lower fence than one that was
-- seen gets the error DW001 and its transaction ends. Two transactions of the same name wait for each other until the
-- first has ended, so that a late one can not commit after a newer one.
--
-- That is also why a client that has passed and then sleeps with its transaction open keeps all others out, whatever became
-- of its lock. Let the server end such a transaction after a little more than your longest pause between two statements:
--
--     ALTER ROLE worker SET idle_in_transaction_session_timeout = '5s';
--
-- A table with a fence of its own needs none of this. Give it the column
--
--     fence bigint NOT NULL DEFAULT 0
--
-- and write every change as
--
--     UPDATE accounts SET balance = $1, fence = $2 WHERE id = $3 AND fence <= $2;
--
-- If that changes no row, the fence is too old.

CREATE TABLE IF NOT EXISTS doorway_fence (
    resource text PRIMARY KEY,
    fence bigint NOT NULL CHECK (fence >= 0)
);

CREATE OR REPLACE FUNCTION doorway_pass(of_resource text, with_fence bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO doorway_fence AS seen (resource, fence) VALUES (of_resource, with_fence)
    ON CONFLICT (resource) DO UPDATE SET fence = EXCLUDED.fence WHERE seen.fence <= EXCLUDED.fence;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'fence % of % is too old: the lock was lost meanwhile', with_fence, of_resource
            USING ERRCODE = 'DW001';
    END IF;
END
$$;
