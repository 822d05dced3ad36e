-- As in 0013, without rebuilding anything.
drop index subscription_named_once, subscription_nameless_once, subscription_by_customer;
alter table subscription
  alter column provider type text collate "C",
  alter column provider_subscription_id type text collate "C",
  alter column customer_id type text collate "C";
alter index subscription_key rename to subscription_named_once;
alter index subscription_nameless_key rename to subscription_nameless_once;
alter index subscription_customer rename to subscription_by_customer;
