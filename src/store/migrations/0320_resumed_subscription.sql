-- A deleted account's subscription that somebody has resumed is canceled again, without a refund.
alter table unwanted_subscription drop constraint unwanted_subscription_because_check;
alter table unwanted_subscription add constraint unwanted_subscription_because_check
  check (because in ('account_deleted', 'paid_twice', 'resumed')) not valid;
alter table unwanted_subscription validate constraint unwanted_subscription_because_check;
