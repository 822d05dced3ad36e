-- The index that 0332 made takes the place of the old one: beside a one-time purchase, a subscription may wait for its id.
drop index subscription_nameless_once;
alter index subscription_nameless rename to subscription_nameless_once;
