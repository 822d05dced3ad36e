create table account (
  id text not null,
  user_id text not null,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamp with time zone,
  refresh_token_expires_at timestamp with time zone,
  scope text,
  password text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint account_pkey PRIMARY KEY (id),
  constraint account_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX account_by_user ON public.account USING btree (user_id);

create table account_notice (
  id bigint not null generated always as identity,
  user_id text not null,
  kind text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  send_after timestamp with time zone not null,
  constraint account_notice_pkey PRIMARY KEY (id),
  constraint account_notice_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX account_notice_by_user ON public.account_notice USING btree (user_id);

create table api_key (
  id uuid not null,
  user_id text not null,
  name text not null,
  prefix text not null,
  hash bytea not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  expiry_notified_at timestamp with time zone,
  constraint api_key_hash_check CHECK ((length(hash) = 32)),
  constraint api_key_hash_key UNIQUE (hash),
  constraint api_key_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint api_key_pkey PRIMARY KEY (id),
  constraint api_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX api_key_by_prefix ON public.api_key USING btree (prefix);

CREATE INDEX api_key_by_user ON public.api_key USING btree (user_id, created_at);

CREATE INDEX api_key_to_notify ON public.api_key USING btree (expires_at) WHERE ((expires_at IS NOT NULL) AND (revoked_at IS NULL) AND (expiry_notified_at IS NULL));

create table audit_entry (
  id bigint not null generated always as identity,
  at timestamp with time zone not null default clock_timestamp(),
  actor_kind text not null,
  actor_id text,
  key_id text,
  address text,
  action text not null,
  target_type text not null,
  target_id text not null,
  details jsonb not null default '{}'::jsonb,
  constraint audit_entry_action_check CHECK (((length(action) >= 1) AND (length(action) <= 100))),
  constraint audit_entry_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['session'::text, 'api-key'::text, 'service-key'::text, 'operator'::text, 'database'::text]))),
  constraint audit_entry_pkey PRIMARY KEY (id)
);

CREATE INDEX audit_entry_by_action ON public.audit_entry USING btree (action, id);

CREATE INDEX audit_entry_by_actor ON public.audit_entry USING btree (actor_id, id) WHERE (actor_id IS NOT NULL);

CREATE INDEX audit_entry_by_target ON public.audit_entry USING btree (target_id, id);

CREATE INDEX audit_entry_by_time ON public.audit_entry USING btree (at);

create table checkout (
  user_id text not null,
  provider text not null,
  plan_id text not null,
  price_id text not null,
  seats integer not null,
  idempotency_key uuid not null,
  asked_at timestamp with time zone not null default clock_timestamp(),
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  session_id text,
  url text,
  opened_at timestamp with time zone,
  expires_at timestamp with time zone,
  lease_key uuid,
  return_url text,
  constraint checkout_check CHECK (((url IS NULL) = (opened_at IS NULL))),
  constraint checkout_pkey PRIMARY KEY (user_id),
  constraint checkout_seats_check CHECK ((seats > 0)),
  constraint checkout_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

create table deleted_user (
  id text not null,
  deleted_at timestamp with time zone not null default now(),
  to_redact jsonb,
  constraint deleted_user_pkey PRIMARY KEY (id)
);

CREATE INDEX deleted_user_to_redact ON public.deleted_user USING btree (deleted_at) WHERE (to_redact IS NOT NULL);

create table delivery_retention (
  only_one boolean not null default true,
  dropped_until bigint not null default 0,
  open_ids bigint[] not null default '{}'::bigint[],
  constraint delivery_retention_only_one_check CHECK (only_one),
  constraint delivery_retention_pkey PRIMARY KEY (only_one)
);

create table email_change (
  user_id text not null,
  new_email text not null,
  old_token bytea not null,
  new_token bytea not null,
  old_confirmed_at timestamp with time zone,
  new_confirmed_at timestamp with time zone,
  expires_at timestamp with time zone not null,
  constraint email_change_new_token_key UNIQUE (new_token),
  constraint email_change_old_token_key UNIQUE (old_token),
  constraint email_change_pkey PRIMARY KEY (user_id),
  constraint email_change_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX email_change_by_expiry ON public.email_change USING btree (expires_at);

create table event_endpoint (
  id uuid not null default gen_random_uuid(),
  url text,
  hook text,
  types text[] not null,
  description text,
  enabled boolean not null default true,
  secret text,
  previous_secret text,
  previous_secret_until timestamp with time zone,
  created_at timestamp with time zone not null default clock_timestamp(),
  created_by text,
  failing_since timestamp with time zone,
  disabled_at timestamp with time zone,
  hook_seen_at timestamp with time zone,
  constraint event_endpoint_check CHECK (((url IS NULL) <> (hook IS NULL))),
  constraint event_endpoint_check1 CHECK (((url IS NULL) = (secret IS NULL))),
  constraint event_endpoint_created_by_fkey FOREIGN KEY (created_by) REFERENCES "user"(id) ON DELETE SET NULL,
  constraint event_endpoint_hook_key UNIQUE (hook),
  constraint event_endpoint_pkey PRIMARY KEY (id)
);

CREATE INDEX event_endpoint_by_creator ON public.event_endpoint USING btree (created_by) WHERE (created_by IS NOT NULL);

create table event_sweep (
  provider text not null,
  swept_until timestamp with time zone,
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  last_problem text,
  endpoint_disabled boolean not null default false,
  constraint event_sweep_pkey PRIMARY KEY (provider)
);

create table grace_reminder (
  subscription_id uuid not null,
  past_due_since timestamp with time zone not null,
  stage text not null,
  sent_at timestamp with time zone not null default clock_timestamp(),
  constraint grace_reminder_pkey PRIMARY KEY (subscription_id, past_due_since, stage),
  constraint grace_reminder_stage_check CHECK ((stage = ANY (ARRAY['middle'::text, 'last_day'::text, 'over'::text]))),
  constraint grace_reminder_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE
);

create table heal_pace (
  provider text not null,
  next_fetch_at timestamp with time zone not null,
  constraint heal_pace_pkey PRIMARY KEY (provider)
);

create table import_run (
  id text not null,
  "position" text,
  created integer not null default 0,
  updated integer not null default 0,
  skipped integer not null default 0,
  updated_at timestamp with time zone not null default now(),
  constraint import_run_pkey PRIMARY KEY (id)
);

create table import_unmatched (
  import_id text not null,
  place bigint not null generated always as identity,
  entry json not null,
  constraint import_unmatched_import_id_fkey FOREIGN KEY (import_id) REFERENCES import_run(id) ON DELETE CASCADE,
  constraint import_unmatched_pkey PRIMARY KEY (import_id, place)
);

create table interval_change (
  id bigint not null generated always as identity,
  subscription_id uuid not null,
  changed_at timestamp with time zone not null default clock_timestamp(),
  constraint interval_change_pkey PRIMARY KEY (id),
  constraint interval_change_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE
);

CREATE INDEX interval_change_changed_at ON public.interval_change USING btree (changed_at);

CREATE INDEX interval_change_subscription ON public.interval_change USING btree (subscription_id, changed_at);

create table lease (
  name text not null,
  token uuid not null,
  held_until timestamp with time zone not null,
  constraint lease_pkey PRIMARY KEY (name)
);

create table mail_recipient (
  key text not null,
  sent_at timestamp with time zone[] not null,
  last_at timestamp with time zone not null default clock_timestamp(),
  constraint mail_recipient_pkey PRIMARY KEY (key)
);

CREATE INDEX mail_recipient_by_age ON public.mail_recipient USING btree (last_at);

create table nightly_reconcile (
  night date not null,
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  finished_at timestamp with time zone,
  compared text[],
  constraint nightly_reconcile_pkey PRIMARY KEY (night)
);

create table notification (
  id bigint not null generated always as identity,
  user_id text not null,
  kind text not null,
  details jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  read_at timestamp with time zone,
  mail_after timestamp with time zone,
  constraint notification_pkey PRIMARY KEY (id),
  constraint notification_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX notification_by_user ON public.notification USING btree (user_id, id);

CREATE INDEX notification_to_mail ON public.notification USING btree (created_at) WHERE ((read_at IS NULL) AND (mail_after IS DISTINCT FROM 'infinity'::timestamp with time zone));

CREATE INDEX notification_unread ON public.notification USING btree (user_id) WHERE (read_at IS NULL);

create table outbound_attempt (
  delivery_id bigint not null,
  attempt integer not null,
  at timestamp with time zone not null default clock_timestamp(),
  duration_ms double precision not null,
  response_status integer,
  error text,
  constraint outbound_attempt_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES outbound_delivery(id) ON DELETE CASCADE,
  constraint outbound_attempt_pkey PRIMARY KEY (delivery_id, attempt)
);

create table outbound_change (
  seq bigint not null default nextval('outbound_event_seq_seq'::regclass),
  occurred_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  current_period_end timestamp with time zone,
  before_current_period_end timestamp with time zone,
  subscription_id uuid not null,
  seats integer not null,
  cancel_at_period_end boolean not null,
  out_of_order boolean not null,
  before_cancel_at_period_end boolean,
  type text,
  user_id text,
  provider text not null,
  provider_subscription_id text,
  plan_id text not null,
  status text not null,
  before_user_id text,
  before_plan_id text,
  before_status text,
  constraint outbound_change_pkey PRIMARY KEY (seq)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=10000, autovacuum_vacuum_insert_threshold=-1, vacuum_truncate=off);

create table outbound_change_set (
  seq bigint not null default nextval('outbound_event_seq_seq'::regclass),
  changes_count integer not null,
  occurred_at double precision[] not null,
  created_at double precision[] not null,
  changes bytea not null,
  constraint outbound_change_set_pkey PRIMARY KEY (seq)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_insert_threshold=-1, vacuum_truncate=off);

create table outbound_delivery (
  id bigint not null generated always as identity,
  endpoint_id uuid not null,
  event_id text not null,
  event_type text not null,
  "position" bigint,
  subject text not null,
  status text not null default 'pending'::text,
  attempts integer not null default 0,
  next_attempt_at timestamp with time zone,
  give_up_at timestamp with time zone not null,
  claim_no integer not null default 0,
  created_at timestamp with time zone not null default clock_timestamp(),
  completed_at timestamp with time zone,
  constraint outbound_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES event_endpoint(id) ON DELETE CASCADE,
  constraint outbound_delivery_pkey PRIMARY KEY (id),
  constraint outbound_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])))
);

CREATE INDEX outbound_delivery_by_age ON public.outbound_delivery USING btree (created_at) WHERE (status <> 'pending'::text);

CREATE INDEX outbound_delivery_by_endpoint ON public.outbound_delivery USING btree (endpoint_id, id);

CREATE INDEX outbound_delivery_due ON public.outbound_delivery USING btree (endpoint_id, next_attempt_at) WHERE ((status = 'pending'::text) AND (next_attempt_at IS NOT NULL));

CREATE INDEX outbound_delivery_failed ON public.outbound_delivery USING btree (endpoint_id, id) WHERE (status = 'failed'::text);

CREATE INDEX outbound_delivery_order ON public.outbound_delivery USING btree (endpoint_id, subject, id) WHERE (status = 'pending'::text);

create table outbound_event (
  seq bigint not null generated always as identity,
  type text not null,
  subject text not null,
  occurred_at timestamp with time zone not null default clock_timestamp(),
  data json not null,
  "position" bigint,
  id text,
  user_id text,
  is_complete boolean not null default false
);

CREATE UNIQUE INDEX outbound_event_by_position ON public.outbound_event USING btree ("position") WHERE ("position" IS NOT NULL);

CREATE INDEX outbound_event_by_user ON public.outbound_event USING btree (user_id) WHERE (user_id IS NOT NULL);

CREATE INDEX outbound_event_to_relay ON public.outbound_event USING btree (seq) WHERE ("position" IS NULL);

create table outbound_event_pack (
  last_position bigint not null,
  first_position bigint not null,
  occurred_at timestamp with time zone not null,
  users bytea not null,
  events bytea not null,
  constraint outbound_event_pack_pkey PRIMARY KEY (last_position)
);

create table outbound_relay (
  only_one boolean not null default true,
  last_position bigint not null default 0,
  dropped_until bigint not null default 0,
  relayed_up_to bigint not null default 0,
  next_relayed_until bigint not null default 0,
  next_relayed_xid xid8,
  last_relayed bigint not null default 0,
  scan_from bigint not null default 0,
  next_scan_from bigint not null default 0,
  next_scan_xid xid8,
  last_seq bigint not null default 0,
  constraint outbound_relay_only_one_check CHECK (only_one),
  constraint outbound_relay_pkey PRIMARY KEY (only_one)
);

create table outbound_unlinked_payment (
  payment_id uuid not null,
  provider text not null,
  provider_subscription_id text not null,
  added_at timestamp with time zone not null default clock_timestamp(),
  constraint outbound_unlinked_payment_pkey PRIMARY KEY (payment_id)
);

CREATE INDEX outbound_unlinked_payment_subscription ON public.outbound_unlinked_payment USING btree (provider, provider_subscription_id);

create table outbound_unreadable_pack (
  last_position bigint not null,
  error text not null,
  found_at timestamp with time zone not null default clock_timestamp(),
  constraint outbound_unreadable_pack_last_position_fkey FOREIGN KEY (last_position) REFERENCES outbound_event_pack(last_position) ON DELETE CASCADE,
  constraint outbound_unreadable_pack_pkey PRIMARY KEY (last_position)
);

create table outbound_unreadable_set (
  seq bigint not null,
  changes_count integer not null,
  occurred_at double precision[] not null,
  created_at double precision[] not null,
  changes bytea not null,
  error text not null,
  set_aside_at timestamp with time zone not null default clock_timestamp(),
  constraint outbound_unreadable_set_pkey PRIMARY KEY (seq)
);

create table payment (
  id uuid not null default gen_random_uuid(),
  provider text not null,
  provider_payment_id text not null,
  provider_subscription_id text,
  user_id text,
  amount bigint not null,
  currency text not null,
  state text not null,
  status text,
  refunded_amount bigint,
  period_start timestamp with time zone,
  period_end timestamp with time zone,
  receipt_url text,
  occurred_at timestamp with time zone not null,
  last_event_at_micros bigint,
  created_at timestamp with time zone not null default clock_timestamp(),
  updated_at timestamp with time zone not null default clock_timestamp(),
  last_event_id text,
  is_for_change boolean not null default false,
  is_refunded boolean,
  constraint payment_pkey PRIMARY KEY (id),
  constraint payment_state_check CHECK ((state = ANY (ARRAY['paid'::text, 'failed'::text]))),
  constraint payment_status_check CHECK ((status = ANY (ARRAY['paid'::text, 'failed'::text, 'refunded'::text, 'partly_refunded'::text, 'disputed'::text]))),
  constraint payment_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE SET NULL
);

CREATE INDEX payment_by_subscription ON public.payment USING btree (provider text_pattern_ops, provider_subscription_id text_pattern_ops, occurred_at) WHERE (provider_subscription_id IS NOT NULL);

CREATE INDEX payment_by_user ON public.payment USING btree (user_id, occurred_at) WHERE (user_id IS NOT NULL);

CREATE UNIQUE INDEX payment_once ON public.payment USING btree (provider text_pattern_ops, provider_payment_id text_pattern_ops);

create table payment_name (
  provider text not null,
  name text not null,
  provider_payment_id text
);

CREATE INDEX payment_name_by_payment ON public.payment_name USING btree (provider text_pattern_ops, provider_payment_id text_pattern_ops) WHERE (provider_payment_id IS NOT NULL);

CREATE UNIQUE INDEX payment_name_once ON public.payment_name USING btree (provider text_pattern_ops, name text_pattern_ops);

create table payment_reversal (
  provider text not null,
  reversal_id text not null,
  payment_name text not null,
  kind text not null,
  amount bigint not null,
  last_event_at_micros bigint,
  last_event_id text,
  constraint payment_reversal_kind_check CHECK ((kind = ANY (ARRAY['refund'::text, 'dispute'::text])))
);

CREATE INDEX payment_reversal_by_name ON public.payment_reversal USING btree (provider text_pattern_ops, payment_name text_pattern_ops);

CREATE UNIQUE INDEX payment_reversal_once ON public.payment_reversal USING btree (provider text_pattern_ops, reversal_id text_pattern_ops);

create table plugin_link (
  id uuid not null default gen_random_uuid(),
  user_id text not null,
  plugin text not null,
  hash bytea not null,
  created_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone,
  constraint plugin_link_hash_check CHECK ((length(hash) = 32)),
  constraint plugin_link_hash_key UNIQUE (hash),
  constraint plugin_link_pkey PRIMARY KEY (id),
  constraint plugin_link_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE,
  constraint plugin_link_user_id_plugin_key UNIQUE (user_id, plugin)
);

create table provider_key (
  provider text not null,
  hash bytea not null,
  first_used_at timestamp with time zone not null default now(),
  constraint provider_key_hash_check CHECK ((length(hash) = 32)),
  constraint provider_key_pkey PRIMARY KEY (provider, hash)
);

create table reconciliation (
  id bigint not null generated always as identity,
  subscription_id uuid not null,
  at timestamp with time zone not null default clock_timestamp(),
  by text not null,
  user_id text,
  changes json not null,
  reason text,
  constraint reconciliation_by_check CHECK ((by = ANY (ARRAY['operator'::text, 'administrator'::text, 'server'::text]))) NOT VALID,
  constraint reconciliation_pkey PRIMARY KEY (id),
  constraint reconciliation_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE,
  constraint reconciliation_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE SET NULL
);

CREATE INDEX reconciliation_by_subscription ON public.reconciliation USING btree (subscription_id, at);

CREATE INDEX reconciliation_by_user ON public.reconciliation USING btree (user_id) WHERE (user_id IS NOT NULL);

create table reconciliation_retention (
  only_one boolean not null default true,
  dropped_until bigint not null default 0,
  constraint reconciliation_retention_only_one_check CHECK (only_one),
  constraint reconciliation_retention_pkey PRIMARY KEY (only_one)
);

create table replaced_checkout (
  provider text not null,
  session_id text not null,
  user_id text not null,
  replaced_at timestamp with time zone not null default clock_timestamp(),
  constraint replaced_checkout_pkey PRIMARY KEY (provider, session_id),
  constraint replaced_checkout_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX replaced_checkout_by_age ON public.replaced_checkout USING btree (replaced_at);

CREATE INDEX replaced_checkout_by_user ON public.replaced_checkout USING btree (user_id);

create table scheduled_change (
  subscription_id uuid not null,
  plan_id text not null,
  seats integer not null,
  takes_effect_at timestamp with time zone not null,
  price_id text,
  constraint scheduled_change_pkey PRIMARY KEY (subscription_id),
  constraint scheduled_change_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE
);

CREATE INDEX scheduled_change_takes_effect_at ON public.scheduled_change USING btree (takes_effect_at);

create table schema_migration (
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migration_pkey PRIMARY KEY (name)
);

create table service_key (
  id uuid not null,
  name text not null,
  permissions text[] not null,
  limit_requests integer not null,
  limit_seconds integer not null,
  created_by text,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  expiry_notified_at timestamp with time zone,
  constraint service_key_created_by_fkey FOREIGN KEY (created_by) REFERENCES "user"(id) ON DELETE SET NULL,
  constraint service_key_limit_requests_check CHECK ((limit_requests > 0)),
  constraint service_key_limit_seconds_check CHECK ((limit_seconds > 0)),
  constraint service_key_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
  constraint service_key_permissions_check CHECK ((cardinality(permissions) > 0)),
  constraint service_key_pkey PRIMARY KEY (id)
);

CREATE INDEX service_key_by_creator ON public.service_key USING btree (created_by) WHERE (created_by IS NOT NULL);

CREATE INDEX service_key_by_time ON public.service_key USING btree (created_at, id);

create table service_key_secret (
  hash bytea not null,
  service_key_id uuid not null,
  prefix text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint service_key_secret_hash_check CHECK ((length(hash) = 32)),
  constraint service_key_secret_pkey PRIMARY KEY (hash),
  constraint service_key_secret_service_key_id_fkey FOREIGN KEY (service_key_id) REFERENCES service_key(id) ON DELETE CASCADE
);

CREATE INDEX service_key_secret_by_key ON public.service_key_secret USING btree (service_key_id, created_at);

CREATE INDEX service_key_secret_by_prefix ON public.service_key_secret USING btree (prefix);

create table session (
  id text not null,
  user_id text not null,
  token text not null,
  expires_at timestamp with time zone not null,
  ip_address text,
  user_agent text,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint session_pkey PRIMARY KEY (id),
  constraint session_token_key UNIQUE (token),
  constraint session_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX session_by_expiry ON public.session USING btree (expires_at);

CREATE INDEX session_by_user ON public.session USING btree (user_id);

create table sign_in_failure (
  key text not null,
  failures integer not null,
  first_at timestamp with time zone not null default clock_timestamp(),
  last_at timestamp with time zone not null default clock_timestamp(),
  constraint sign_in_failure_pkey PRIMARY KEY (key)
);

CREATE INDEX sign_in_failure_by_age ON public.sign_in_failure USING btree (last_at);

create table subscription (
  id uuid not null,
  user_id text,
  provider text not null,
  provider_subscription_id text,
  customer_id text,
  price_id text,
  plan_id text not null,
  seats integer not null,
  status text not null,
  current_period_end timestamp with time zone,
  cancel_at_period_end boolean not null,
  out_of_order boolean not null,
  last_event_at_micros bigint,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  told_standing text,
  told_plan_id text,
  last_event_rank smallint,
  compared_at_micros bigint,
  past_due_since timestamp with time zone,
  is_one_time boolean not null default false,
  payment_id text,
  pauses_at_period_end boolean not null default false,
  constraint subscription_pkey PRIMARY KEY (id),
  constraint subscription_seats_check CHECK ((seats >= 0)),
  constraint subscription_status_check CHECK ((status = ANY (ARRAY['incomplete'::text, 'trialing'::text, 'active'::text, 'past_due'::text, 'paused'::text, 'unpaid'::text, 'canceled'::text]))),
  constraint subscription_told_standing_check CHECK ((told_standing = ANY (ARRAY['active'::text, 'past_due'::text, 'unpaid'::text, 'canceled'::text]))) NOT VALID,
  constraint subscription_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE SET NULL
) with (fillfactor=80);

CREATE INDEX subscription_by_customer ON public.subscription USING btree (customer_id text_pattern_ops, provider text_pattern_ops) WHERE (customer_id IS NOT NULL);

CREATE INDEX subscription_by_user ON public.subscription USING btree (user_id);

CREATE UNIQUE INDEX subscription_named_once ON public.subscription USING btree (provider text_pattern_ops, provider_subscription_id text_pattern_ops);

CREATE UNIQUE INDEX subscription_nameless_once ON public.subscription USING btree (provider text_pattern_ops, user_id text_pattern_ops, is_one_time, (
CASE
    WHEN is_one_time THEN plan_id
    ELSE ''::text
END)) WHERE ((provider_subscription_id IS NULL) AND (payment_id IS NULL));

CREATE INDEX subscription_out_of_order ON public.subscription USING btree (id) WHERE out_of_order;

CREATE INDEX subscription_past_due ON public.subscription USING btree (past_due_since) WHERE (past_due_since IS NOT NULL);

CREATE UNIQUE INDEX subscription_payment_once ON public.subscription USING btree (payment_id text_pattern_ops, provider text_pattern_ops, user_id text_pattern_ops, ((provider_subscription_id IS NULL))) WHERE (payment_id IS NOT NULL);

create table subscription_heal (
  subscription_id uuid not null,
  attempts integer not null,
  next_attempt_at timestamp with time zone not null,
  settled_version text,
  last_problem text,
  requested boolean not null default false,
  constraint subscription_heal_pkey PRIMARY KEY (subscription_id),
  constraint subscription_heal_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES subscription(id) ON DELETE CASCADE
);

CREATE INDEX subscription_heal_requested ON public.subscription_heal USING btree (next_attempt_at) WHERE requested;

create table two_factor (
  id text not null,
  user_id text not null,
  secret text not null,
  backup_codes text not null,
  verified boolean not null default false,
  failed_verification_count integer not null default 0,
  locked_until timestamp with time zone,
  constraint two_factor_pkey PRIMARY KEY (id),
  constraint two_factor_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE,
  constraint two_factor_user_id_key UNIQUE (user_id)
);

create table unwanted_subscription (
  provider text not null,
  provider_subscription_id text not null,
  because text not null,
  found_at timestamp with time zone not null default clock_timestamp(),
  next_attempt_at timestamp with time zone not null default clock_timestamp(),
  attempts integer not null default 0,
  canceled_at timestamp with time zone,
  refunded boolean,
  reported_at timestamp with time zone,
  unclaimed_since timestamp with time zone,
  constraint unwanted_subscription_because_check CHECK ((because = ANY (ARRAY['account_deleted'::text, 'paid_twice'::text, 'resumed'::text]))),
  constraint unwanted_subscription_pkey PRIMARY KEY (provider, provider_subscription_id)
);

CREATE INDEX unwanted_subscription_open ON public.unwanted_subscription USING btree (next_attempt_at) WHERE (canceled_at IS NULL);

create table usage_counter (
  user_id text not null,
  feature text not null,
  period_end timestamp with time zone not null,
  used bigint not null,
  constraint usage_counter_pkey PRIMARY KEY (user_id, feature, period_end),
  constraint usage_counter_used_check CHECK ((used >= 0)),
  constraint usage_counter_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX usage_counter_by_age ON public.usage_counter USING btree (period_end);

create table usage_key (
  key text collate "C" not null,
  user_id text not null,
  body_hash bytea not null,
  used bigint not null,
  remaining bigint not null,
  created_at timestamp with time zone not null default now(),
  constraint usage_key_body_hash_check CHECK ((length(body_hash) = 32)),
  constraint usage_key_pkey PRIMARY KEY (key),
  constraint usage_key_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX usage_key_by_age ON public.usage_key USING btree (created_at);

CREATE INDEX usage_key_by_user ON public.usage_key USING btree (user_id);

create table used_totp_code (
  user_id text not null,
  code text not null,
  used_at timestamp with time zone not null default clock_timestamp(),
  constraint used_totp_code_pkey PRIMARY KEY (user_id, code),
  constraint used_totp_code_user_id_fkey FOREIGN KEY (user_id) REFERENCES "user"(id) ON DELETE CASCADE
);

CREATE INDEX used_totp_code_by_age ON public.used_totp_code USING btree (used_at);

create table "user" (
  id text not null,
  name text not null,
  email text not null,
  email_verified boolean not null default false,
  image text,
  role text not null default 'user'::text,
  locale text not null default 'en'::text,
  preferences jsonb not null default '{"theme": "system", "emailNotifications": true}'::jsonb,
  onboarded boolean not null default false,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  banned boolean not null default false,
  ban_reason text,
  ban_expires timestamp with time zone,
  two_factor_enabled boolean not null default false,
  external_id text collate "C",
  constraint user_email_key UNIQUE (email),
  constraint user_pkey PRIMARY KEY (id),
  constraint user_role_check CHECK ((role = ANY (ARRAY['user'::text, 'admin'::text])))
);

CREATE INDEX user_administrators ON public."user" USING btree (id) WHERE (role = 'admin'::text);

CREATE INDEX user_by_address ON public."user" USING btree (email text_pattern_ops);

CREATE INDEX user_by_age ON public."user" USING btree (created_at, id);

CREATE UNIQUE INDEX user_by_external_id ON public."user" USING btree (external_id);

CREATE INDEX user_by_last_name ON public."user" USING btree ((((fold_case("substring"(name, '[^ ]+$'::text)) || chr(1)) || id)) text_pattern_ops) WHERE (POSITION((' '::text) IN (name)) > 0);

CREATE INDEX user_by_name ON public."user" USING btree ((((fold_case(name) || chr(1)) || id)) text_pattern_ops);

create table verification (
  id text not null,
  identifier text not null,
  value text not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint verification_pkey PRIMARY KEY (id)
);

CREATE INDEX verification_by_expiry ON public.verification USING btree (expires_at);

CREATE INDEX verification_by_identifier ON public.verification USING btree (identifier);

CREATE INDEX verification_by_value ON public.verification USING btree (value);

create table webhook_attempt (
  delivery_id bigint not null,
  claim_no integer not null,
  source text not null,
  outcome text not null,
  reason text,
  started_at timestamp with time zone not null,
  duration_ms double precision not null,
  subscription_id uuid,
  changes json,
  changed_at timestamp with time zone,
  reason_id text,
  reason_params json,
  constraint webhook_attempt_outcome_check CHECK ((outcome = ANY (ARRAY['successful'::text, 'failed'::text]))),
  constraint webhook_attempt_pkey PRIMARY KEY (delivery_id, claim_no),
  constraint webhook_attempt_source_check CHECK ((source = ANY (ARRAY['delivery'::text, 'retry'::text, 'replay'::text, 'reconcile'::text]))) NOT VALID
);

CREATE INDEX webhook_attempt_changes ON public.webhook_attempt USING btree (subscription_id) WHERE (subscription_id IS NOT NULL);

create table webhook_delivery (
  id bigint not null generated always as identity,
  provider text not null,
  event_id text not null,
  event_type text not null,
  format text not null,
  status text not null,
  claim_no integer not null default 1,
  claim_source text not null,
  claimed_at timestamp with time zone not null default clock_timestamp(),
  lease_until timestamp with time zone,
  next_attempt_at timestamp with time zone,
  last_error text,
  received_at timestamp with time zone not null default clock_timestamp(),
  completed_at timestamp with time zone,
  occurred_at timestamp with time zone,
  payload json,
  first_source text,
  first_outcome text,
  first_reason text,
  first_duration_ms real,
  first_subscription_id uuid,
  first_changes json,
  first_changed_at timestamp with time zone,
  released_claims integer,
  released_claim_no integer,
  last_reason text,
  first_reason_id text,
  first_reason_params json,
  constraint webhook_delivery_claim_source_check CHECK ((claim_source = ANY (ARRAY['delivery'::text, 'retry'::text, 'replay'::text, 'reconcile'::text]))) NOT VALID,
  constraint webhook_delivery_pkey PRIMARY KEY (id),
  constraint webhook_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'successful'::text, 'failed'::text])))
);

CREATE INDEX webhook_delivery_changes ON public.webhook_delivery USING btree (((id >> 18)), first_subscription_id) WHERE (first_subscription_id IS NOT NULL);

CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (next_attempt_at) WHERE (status = 'failed'::text);

CREATE INDEX webhook_delivery_leased ON public.webhook_delivery USING btree (lease_until) WHERE (status = 'pending'::text);

CREATE UNIQUE INDEX webhook_delivery_once ON public.webhook_delivery USING btree (provider text_pattern_ops, event_id text_pattern_ops);
