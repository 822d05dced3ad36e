-- People are told once that their provider has given up on a failed payment, and that their subscription is on hold.
alter table subscription drop constraint subscription_told_standing_check;
alter table subscription add constraint subscription_told_standing_check
  check (told_standing in ('active', 'past_due', 'unpaid', 'canceled')) not valid;
