-- Each single payment makes a purchase of its person's, and what is free of charge one for each plan: the indexes that 0361 and 0362
-- made take the places of the old ones. A server of the release before can give a purchase the id of a subscription: replayed, its
-- payment then makes it once more.
drop index subscription_by_payment, subscription_nameless_once;
alter index subscription_nameless rename to subscription_nameless_once;
