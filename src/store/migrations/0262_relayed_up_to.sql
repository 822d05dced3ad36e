-- Renamed because it covers outbound_change_set now: a relay of an earlier commit, which does not see those, must not move it.
alter table outbound_relay rename column relayed_until to relayed_up_to;
