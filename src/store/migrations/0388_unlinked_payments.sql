-- Payments whose events named nobody, as their subscription was not known yet: they are reported again once it is.
create table outbound_unlinked_payment (
  payment_id uuid primary key,
  provider text not null,
  provider_subscription_id text not null,
  added_at timestamptz not null default clock_timestamp()
);
create index outbound_unlinked_payment_subscription on outbound_unlinked_payment (provider, provider_subscription_id);
