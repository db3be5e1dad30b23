"""Estimators, nulls and simulation: what recorded scores can and cannot show. Nothing here reads a store or draws a
page.

Every interval is two-sided at 95 % and every test two-sided unless its name says otherwise. The task is the unit;
decodes are nested in it.
"""
