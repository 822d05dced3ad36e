-- As in 0013, without rebuilding anything.
drop index user_by_name, user_by_last_name;
alter index user_name rename to user_by_name;
alter index user_last_name rename to user_by_last_name;
