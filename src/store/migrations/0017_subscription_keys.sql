-- As in 0013, without rebuilding anything.
drop index subscription_named_once, subscription_nameless_once, subscription_by_customer;
alter index subscription_key rename to subscription_named_once;
alter index subscription_nameless_key rename to subscription_nameless_once;
alter index subscription_customer rename to subscription_by_customer;
