-- Records usage, all of it or nothing. `items`: [{ item, userId, feature, amount, quota, periodEnd, key, bodyHash }].
-- Counters are locked in one order everywhere, so that concurrent calls wait for each other instead of deadlocking.
create or replace function record_usage(items jsonb) returns jsonb language plpgsql as $$
declare
  one record;
  known usage_key%rowtype;
  total bigint;
  answers jsonb;
  refusal jsonb;
begin
  loop
    answers := '[]';
    refusal := null;
    begin
      insert into usage_counter (user_id, feature, period_end, used)
      select distinct given."userId", given.feature, given."periodEnd", 0
      from jsonb_to_recordset(items) as given ("userId" text, feature text, "periodEnd" timestamptz)
      order by 1, 2, 3
      on conflict do nothing;

      perform 1 from usage_counter c
      where (c.user_id, c.feature, c.period_end) in (
        select given."userId", given.feature, given."periodEnd"
        from jsonb_to_recordset(items) as given ("userId" text, feature text, "periodEnd" timestamptz)
      )
      order by c.user_id, c.feature, c.period_end
      for update;

      for one in
        select given.* from jsonb_to_recordset(items) as given (
          item integer, "userId" text, feature text, amount bigint, quota bigint, "periodEnd" timestamptz,
          key text, "bodyHash" text
        ) order by given.item
      loop
        select * into known from usage_key k where k.key = one.key;
        if found then
          if known.body_hash <> decode(one."bodyHash", 'hex') then
            refusal := jsonb_build_object('outcome', 'key_reused', 'item', one.item);
            raise exception using errcode = 'TGUSE';
          end if;
          answers := answers || jsonb_build_object('used', known.used, 'remaining', known.remaining);
          continue;
        end if;
        update usage_counter c set used = c.used + one.amount
        where c.user_id = one."userId" and c.feature = one.feature and c.period_end = one."periodEnd"
          and c.used + one.amount <= one.quota
        returning c.used into total;
        if total is null then
          refusal := jsonb_build_object('outcome', 'quota_exceeded', 'item', one.item);
          raise exception using errcode = 'TGUSE';
        end if;
        insert into usage_key (key, user_id, body_hash, used, remaining)
        values (one.key, one."userId", decode(one."bodyHash", 'hex'), total, one.quota - total);
        answers := answers || jsonb_build_object('used', total, 'remaining', one.quota - total);
      end loop;
      return jsonb_build_object('outcome', 'recorded', 'answers', answers);
    exception
      -- Ends the inner block alone: nothing of the call remains.
      when sqlstate 'TGUSE' then
        if refusal ->> 'outcome' = 'quota_exceeded' then
          -- Without what earlier items of the call had counted.
          select coalesce(sum(c.used), 0) into total from usage_counter c
          where c.user_id = one."userId" and c.feature = one.feature and c.period_end = one."periodEnd";
          refusal := refusal || jsonb_build_object('remaining', greatest(one.quota - total, 0));
        end if;
        return refusal;
      -- Another call has just committed this key, under another counter.
      when unique_violation then
        continue;
    end;
  end loop;
end $$;
