-- The customer first: the index is chosen for the customer's id alone, see `subscription-locks.ts`.
drop index subscription_by_customer;
alter index subscription_customer rename to subscription_by_customer;
