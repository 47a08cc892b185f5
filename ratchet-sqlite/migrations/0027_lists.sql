-- Lists of paused and of canceled jobs by id. Jobs in other states pay nothing.
CREATE INDEX ratchet_job_paused ON ratchet_job (id) WHERE state = 4;
CREATE INDEX ratchet_job_canceled ON ratchet_job (id) WHERE state = 5;
